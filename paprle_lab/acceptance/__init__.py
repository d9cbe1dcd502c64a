"""The checks that accept a rig, slow and safe first, and their report.

Each check is a row of ``paprle_lab.acceptance.table``: what it asks of a person, what
it measures, when it passes, and what to do where it fails.
"""
