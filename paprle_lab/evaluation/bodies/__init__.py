"""Clearance and contacts of a recording."""
