"""Sessions on two hosts."""
