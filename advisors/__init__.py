"""Advisors: one package per source of suggestions."""

if __name__ != "paprle.advisors":  # an editable install has the clone on its path
    raise ImportError(
        f"expected the package 'paprle.advisors', got '{__name__}'; "
        "import paprle.advisors"
    )
