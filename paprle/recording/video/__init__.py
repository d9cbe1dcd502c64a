"""Pictures of a recording."""
