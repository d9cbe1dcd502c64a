"""Onboarding: from a bare URDF to a follower's settings."""
