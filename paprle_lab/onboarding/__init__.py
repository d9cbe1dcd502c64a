"""Onboarding: from a bare URDF to the settings of a follower."""
