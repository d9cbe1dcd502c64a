"""Gate: rows, distances, standstills, mutation tests."""
