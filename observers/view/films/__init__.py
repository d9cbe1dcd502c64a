"""Page of the recordings' viewer."""
