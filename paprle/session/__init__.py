"""The tick of a session: states, input and motion."""
