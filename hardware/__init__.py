"""Drivers of devices, buses and simulators."""

if __name__ != "paprle.hardware":  # an editable install has the clone on its path
    raise ImportError(
        f"expected the package 'paprle.hardware', got '{__name__}'; "
        "import paprle.hardware"
    )
