"""Drawing, by kind of thing."""
