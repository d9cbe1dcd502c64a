"""Sessions between two hosts: remote follower and remote leader."""
