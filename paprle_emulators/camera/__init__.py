"""An emulated network camera, and a recording of a RealSense."""
