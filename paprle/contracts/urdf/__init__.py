"""Properties of a URDF that drivers and core share."""
