"""Between processes: records, mailboxes and rings, children, loops, clocks."""
