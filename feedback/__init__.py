"""Feedback laws, as pure functions."""

if __name__ != "paprle.feedback":  # an editable install has the clone on its path
    raise ImportError(
        f"expected the package 'paprle.feedback', got '{__name__}'; "
        "import paprle.feedback"
    )
