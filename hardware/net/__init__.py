"""A bad network: a model of one, and a process that makes a real cable one."""
