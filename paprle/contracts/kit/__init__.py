"""Functions and small classes for plug-ins of several kinds."""
