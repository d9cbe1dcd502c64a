"""Session input: samples, controls and the dead-man rule."""
