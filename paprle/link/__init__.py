"""Protocol between two hosts, without I/O (docs/remote.md)."""
