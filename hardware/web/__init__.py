"""Server of the pages of phones and headsets: TLS, token, one client a socket."""
