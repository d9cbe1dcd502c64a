"""Sets of labelled trials."""
