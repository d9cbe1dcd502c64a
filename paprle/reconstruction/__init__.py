"""What is made of samples that are noisy, late or few, before they are followed."""
