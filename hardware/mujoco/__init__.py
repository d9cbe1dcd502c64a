"""MuJoCo model of a URDF with servos and a small world, without a renderer."""
