"""Universal Robots' e-series arms, by ur_rtde."""
