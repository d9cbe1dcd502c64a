"""The tick: session states, accepted leader input, commanded motion."""
