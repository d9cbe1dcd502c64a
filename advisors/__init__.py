"""Advisors: one package per source of suggestions."""
