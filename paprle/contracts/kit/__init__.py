"""Functions and small classes that plug-ins of several kinds share."""
