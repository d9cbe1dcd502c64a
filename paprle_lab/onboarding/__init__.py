"""Onboarding of robots and leaders."""
