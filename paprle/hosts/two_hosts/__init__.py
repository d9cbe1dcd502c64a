"""Sessions on two hosts: remote follower and remote leader."""
