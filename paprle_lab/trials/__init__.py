"""Sets of trials by user, task and mode, from ARBot logs (CSV) or recordings."""
