"""An emulated phone at the page, and a lossy radio."""
