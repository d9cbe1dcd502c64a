"""Policy from demonstrations, rolled out through the gate."""
