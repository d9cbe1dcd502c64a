"""An emulated inertial sensor on a pseudo-terminal."""
