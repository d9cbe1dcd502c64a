"""Batches of sessions or recordings, with one table of results.

A plan lists cells; an engine runs them in any order. The table, sorted by cell, does
not depend on the engine.
"""
