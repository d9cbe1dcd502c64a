"""Server of pages of phones and headsets."""
