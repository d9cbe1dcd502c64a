"""One server for pages that take commands: TLS, token, one client; and a page of ours.

A page is served together with its socket on one port. Who may open the socket is
decided in the handshake (``door``), before a message is read. The page of phones and
headsets and the messages it sends are here, too, with a client that speaks them and
misbehaves on command (``emulator``).
"""
