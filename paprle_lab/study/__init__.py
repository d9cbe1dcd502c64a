"""User studies: order of conditions, answers and tables."""
