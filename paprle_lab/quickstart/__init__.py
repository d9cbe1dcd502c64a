"""The first session with an arm: ports, roles, calibration, cameras, data set."""
