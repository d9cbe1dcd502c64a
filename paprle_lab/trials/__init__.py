"""Sets of trials by user, task and mode, from ARBot logs or recordings."""
