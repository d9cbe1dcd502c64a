"""Acceptance of a rig: a table of checks, slow and safe first, and its report."""
