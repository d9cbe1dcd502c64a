"""Server of a page."""
