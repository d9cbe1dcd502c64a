"""The gate between a session and its robot."""
