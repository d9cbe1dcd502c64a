"""Limbs, grippers and homes of a URDF that nobody has described."""
