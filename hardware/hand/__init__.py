"""Hands seen by a camera: landmarks, what finds them, recordings and drawn hands."""
