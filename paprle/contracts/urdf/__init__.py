"""Properties of a URDF that drivers and core share: models, meshes, mimic joints."""
