"""Protocol between two hosts when the follower is on another machine.

Pure: no socket, no process, no clock. ``paprle.hosts.two_hosts.serve`` hosts the
follower's end beside the gate, ``paprle.hosts.two_hosts.remote_gate`` the leader's end
beside the session, and a plug-in of ``links`` carries the datagrams. docs/remote.md
"""
