"""Base of arms driven over a network."""
