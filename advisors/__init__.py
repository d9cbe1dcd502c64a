"""Advisors: one package per source of suggested goals or velocities."""
