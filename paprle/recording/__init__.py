"""Episodes on disk: written so that a kill costs little, read back with suspicion."""
