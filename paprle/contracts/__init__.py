"""What plug-ins and core agree on: values, contracts, errors, settings."""
