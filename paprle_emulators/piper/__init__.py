"""An emulated AgileX PiPER: servos, modes, faults and its CAN bus."""
