"""The viewer's page: a list of recordings, one of them played."""
