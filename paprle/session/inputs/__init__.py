"""Input of a session: samples, controls and the dead-man rule."""
