"""Views of a session for observers: robot, cameras, proximity, recordings."""
