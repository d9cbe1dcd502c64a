"""Evaluation, data sets, onboarding, batches, trials and studies."""
