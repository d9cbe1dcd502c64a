"""The report of an episode: text, plots and one HTML page."""
