"""MCAP files: crash-safe writing, scanning, recovery and compaction."""
