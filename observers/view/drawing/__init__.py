"""Drawing of one kind of thing in the scene each."""
