"""Pictures of README and pages."""
