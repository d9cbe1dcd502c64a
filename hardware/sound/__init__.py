"""Tones for what a follower meets, where nothing in the hand can vibrate."""
