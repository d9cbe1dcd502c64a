"""Information for the operator, and requests."""
