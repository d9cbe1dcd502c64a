"""Messages of a recording: types, channels and CDR."""
