"""Evaluation of recordings; ``report`` is the entry point."""
