"""Links, one package per carrier."""

if __name__ != "paprle.links":  # an editable install has the clone on its path
    raise ImportError(
        f"expected the package 'paprle.links', got '{__name__}'; import paprle.links"
    )
