"""An emulated network camera, and a RealSense recording."""
