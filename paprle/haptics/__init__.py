"""Force feedback: laws composed, kept stable and passive, and carried to the leader."""
