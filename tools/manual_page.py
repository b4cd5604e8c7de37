# SPDX-License-Identifier: GPL-3.0-or-later
"""The pages in the extension's zip, the manual and the one on troubles, made from those in docs/."""

import re
from pathlib import Path

from markdown import Markdown
from pymdownx.slugs import slugify

ROOT = Path(__file__).resolve().parent.parent
# Those that the window opens (ik2d_addon/ui/manual.py).
PAGES = ("manual", "troubleshooting")
# A heading's anchor, as code hosts make it; the site's pages have the same (tools/site_pages.py).
ANCHOR = slugify(case="lower")
LINK = re.compile(rf"!?\[([^\]]+)\]\((?!#|(?:{'|'.join(PAGES)})\.html)[^)]+\)")
TO_PAGE = re.compile(rf"\]\(({'|'.join(PAGES)})\.md")
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>IK 2D: {title}</title>
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


def zip_page(name: str) -> str:
    """Return one of `PAGES` as HTML that needs no other file but these. Links to others become plain text."""
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    text = LINK.sub(r"\1", TO_PAGE.sub(r"](\1.html", text))
    markdown = Markdown(
        extensions=["tables", "toc"], extension_configs={"toc": {"slugify": ANCHOR, "toc_depth": "2-4"}}
    )
    body = markdown.convert(text)
    return PAGE.format(title=text.splitlines()[0].removeprefix("# "), contents=markdown.toc, body=body)
