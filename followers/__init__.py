"""Followers: one package per environment."""
