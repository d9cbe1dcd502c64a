"""The gate near bodies: clearance rows, sliding, verified stops, rest."""
