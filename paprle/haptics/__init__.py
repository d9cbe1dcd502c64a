"""Force feedback."""
