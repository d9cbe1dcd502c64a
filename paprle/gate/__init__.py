"""The last word before the robot: limits, watches, states, and the gate itself."""
