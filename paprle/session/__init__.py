"""The session: the operator's states, the tick, the hosts, the order of shutdown."""
