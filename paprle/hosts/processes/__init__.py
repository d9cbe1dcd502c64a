"""Child processes of a session, one module per role."""
