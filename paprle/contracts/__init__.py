"""Interfaces shared by plug-ins and core."""
