"""Time, CPU and memory of running processes."""
