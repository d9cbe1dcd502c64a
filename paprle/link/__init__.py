"""Protocol between two hosts when the follower is remote (docs/remote.md).

Pure: no socket, no process, no clock.
"""
