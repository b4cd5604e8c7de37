# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual as one page for the extension's zip, made from docs/manual.md."""

import re
from pathlib import Path

from markdown import Markdown
from pymdownx.slugs import slugify

ROOT = Path(__file__).resolve().parent.parent
MANUAL = ROOT / "docs" / "manual.md"
# A heading's anchor, as code hosts make it; the site's pages have the same (tools/site_pages.py).
ANCHOR = slugify(case="lower")
LINK = re.compile(r"\[([^\]]+)\]\((?!#)[^)]+\)")
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>IK 2D: Manual</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 1rem/1.6 system-ui, sans-serif; max-width: 46rem; margin: 0 auto; padding: 1rem }}
:target {{ background: #ffd54a66 }}
nav ul {{ margin: 0 }}
table {{ border-collapse: collapse }}
th, td {{ text-align: left; vertical-align: top; padding: .3rem .6rem; border: 1px solid #8886 }}
</style>
</head>
<body>
<nav>{contents}</nav>
{body}
</body>
</html>
"""


def manual_page() -> str:
    """Return the manual as HTML that needs no other file. Links to other pages become plain text."""
    text = LINK.sub(r"\1", MANUAL.read_text(encoding="utf-8"))
    markdown = Markdown(
        extensions=["tables", "toc"], extension_configs={"toc": {"slugify": ANCHOR, "toc_depth": "2-4"}}
    )
    body = markdown.convert(text)
    return PAGE.format(contents=markdown.toc, body=body)
