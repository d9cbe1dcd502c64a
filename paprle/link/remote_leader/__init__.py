"""Remote leader."""
