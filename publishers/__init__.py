"""Publishers: one folder a way to tell others what a session does."""
