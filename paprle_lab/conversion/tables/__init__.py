"""HDF5 and zarr files of others as episodes."""
