"""The gate near bodies."""
