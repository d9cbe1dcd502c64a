"""Verbs of the command line that read recordings, URDFs and plans."""
