"""User studies."""
