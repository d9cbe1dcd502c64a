"""Onboarding of a printed leader."""
