"""Advisors: what suggests goals and velocities, one folder each."""
