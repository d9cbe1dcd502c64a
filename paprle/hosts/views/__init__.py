"""Views for observers: robot, cameras, proximity."""
