"""Functions and small classes shared by plug-ins of several kinds."""
