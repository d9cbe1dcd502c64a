"""Leaders: one package per kind of operator's device."""

if __name__ != "paprle.leaders":  # an editable install has the clone on its path
    raise ImportError(
        f"expected the package 'paprle.leaders', got '{__name__}'; "
        "import paprle.leaders"
    )
