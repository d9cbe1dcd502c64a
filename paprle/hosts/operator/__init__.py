"""Information for the operator and requests from the operator."""
