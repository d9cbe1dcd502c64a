"""Camera images over a narrow link."""
