"""An emulated RealSense that sees a hand."""
