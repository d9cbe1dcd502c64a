"""Whether each limb is where it was asked to be and, if not, why.

One classifier (``classify``) looks at the numbers of a tick and of the gate's status.
The status line, the page, exit codes and reports ask it; nobody else has thresholds.
All of its input is recorded, so that a report repeats what a session said.
"""
