"""MuJoCo model of a URDF with a small world."""
