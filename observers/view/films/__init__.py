"""The viewer's page: a shelf of recordings, one of them played."""
