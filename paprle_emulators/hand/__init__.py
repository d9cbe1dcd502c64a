"""An emulated RealSense with a view of a hand."""
