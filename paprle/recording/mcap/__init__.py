"""MCAP files."""
