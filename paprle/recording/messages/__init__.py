"""Messages of a recording: types, channels, fields and CDR."""
