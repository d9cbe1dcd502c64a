"""Interprocess communication: records, mailboxes, rings, children, loops, clocks."""
