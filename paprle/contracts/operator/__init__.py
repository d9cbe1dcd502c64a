"""Keys and requests of the operator."""
