"""Driver of Universal Robots' arms of the e-series, by ur_rtde."""
