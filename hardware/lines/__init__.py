"""Lines of JSON between local programs."""
