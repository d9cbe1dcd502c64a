"""Onboarding of a printed leader: from its servos to its YAML and URDF."""
