"""Contact of the follower: detection, force and direction."""
