"""Base of emulated arms behind a maker's controller."""
