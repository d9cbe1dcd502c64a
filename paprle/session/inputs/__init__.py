"""Session input: samples, controls and dead-man."""
