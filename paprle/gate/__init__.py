"""The gate: limits, watches and states between a session and its robot."""
