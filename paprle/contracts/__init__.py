"""Interfaces shared by plug-ins and core: values, contracts, errors, settings."""
