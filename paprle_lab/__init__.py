"""PAPRLE at leisure: evaluation, data sets, onboarding, batches, trials and studies."""
