"""Cameras, one package per source."""

if __name__ != "paprle.cameras":  # an editable install has the clone on its path
    raise ImportError(
        f"expected the package 'paprle.cameras', got '{__name__}'; "
        "import paprle.cameras"
    )
