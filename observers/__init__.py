"""Observers, one package per output."""

if __name__ != "paprle.observers":  # an editable install has the clone on its path
    raise ImportError(
        f"expected the package 'paprle.observers', got '{__name__}'; "
        "import paprle.observers"
    )
