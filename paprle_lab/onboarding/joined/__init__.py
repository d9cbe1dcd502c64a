"""Described arms joined to one robot."""
