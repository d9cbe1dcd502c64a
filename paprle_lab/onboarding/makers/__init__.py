"""Meshes of an arm's maker for the pictures of a robot."""
