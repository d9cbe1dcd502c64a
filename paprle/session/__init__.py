"""The tick: the operator's states, what is accepted of a leader, what is commanded."""
