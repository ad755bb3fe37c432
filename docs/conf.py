"""The documentation site: `scripts/docs site` builds it into docs/_site, offline and searchable."""

from __future__ import annotations

import leverrier

project = "Leverrier"
author = "The Leverrier engineers"
release = leverrier.__version__
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_site", "reproduced/*.jsonl"]
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]
suppress_warnings = ["myst.header"]
html_theme = "furo"
html_title = "Leverrier: finds what nobody measured"
html_show_sphinx = False
