"""Contact of the follower."""
