"""The first session with an arm."""
