"""Limbs, grippers and homes of a bare URDF."""
