"""Messages of a recording."""
