"""How the pages are built: ``make docs``; the source folder is the repository."""

from paprle import __version__

project = "PAPRLE"
author = "The PAPRLE contributors"
copyright = "the PAPRLE contributors, Apache-2.0"  # noqa: A001 - Sphinx' name
release = __version__
root_doc = "docs/index"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
include_patterns = [
    "docs/*.md",
    "docs/decisions/*.md",
    "docs/notes/*.md",
    "docs/performance/*.md",
    "docs/start/*.md",
    "docs/from/*.md",
    "docs/api/*.md",
    "leaders/*/README.md",
    "followers/*/README.md",
    "cameras/*/README.md",
    "links/*/README.md",
    "advisors/*/README.md",
    "observers/*/README.md",
    "hardware/**/README.md",
    "packages/*/README.md",
    "paprle_emulators/*/README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
]
exclude_patterns = [".venv*", "site"]
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["myst.header"]  # a page may begin at any level
autodoc_typehints = "description"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}
napoleon_google_docstring = True
napoleon_use_ivar = True  # attributes of a NamedTuple are members, too
html_theme = "furo"
html_title = "PAPRLE"
