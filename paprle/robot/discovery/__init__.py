"""Limbs, grippers and homes of a URDF without settings."""
