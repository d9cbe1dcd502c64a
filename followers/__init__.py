"""Followers: one package per environment."""

if __name__ != "paprle.followers":  # an editable install has the clone on its path
    raise ImportError(
        f"expected the package 'paprle.followers', got '{__name__}'; "
        "import paprle.followers"
    )
