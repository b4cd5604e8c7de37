# SPDX-License-Identifier: GPL-3.0-or-later
"""Give mkdocs its pages and pictures: README.md and all that can be reached from it by links.

No page is copied for the site, and each keeps its place. So links lead to the same pages as on a code host.
mkdocs.yml names this file as a hook.
"""

import re
from pathlib import Path

from mkdocs.structure.files import File, Files, InclusionLevel

from tools.manual_page import ANCHOR

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s#]+)")  # of a picture too
ELSEWHERE = re.compile(r"[a-z]+:")
# How much more a hit on a page counts in the site's search: answers for users come before how it is made.
BOOSTS = {"docs/troubleshooting.md": 10.0, "docs/python.md": 0.2}
BOOSTS_OF_SECTIONS = {"How it works": 0.5, "For developers": 0.2}


def site_files(start: str = "README.md") -> list[str]:
    """Return the paths below the repository's root of a page and of all that it leads to.

    What a link names and the repository has not is left out: mkdocs then says which page has that link.
    """
    found, waiting = set(), [ROOT / start]
    while waiting:
        path = waiting.pop()
        if not path.is_file() or not path.is_relative_to(ROOT) or path in found:
            continue
        found.add(path)
        if path.suffix == ".md":
            text = FENCE.sub("", path.read_text(encoding="utf-8"))
            links = (link for link in LINK.findall(text) if not ELSEWHERE.match(link))
            waiting += [(path.parent / link).resolve() for link in links]
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def on_config(config):
    """Give headings the anchors that the manual in the zip has too."""
    config.mdx_configs["toc"]["slugify"] = ANCHOR
    return config


def on_page_markdown(markdown: str, page, config, files: Files) -> str:
    """Give a page its weight in the search, by its place in the table of contents."""
    section = page.parent.title if page.parent is not None else ""
    boost = BOOSTS.get(page.file.src_uri, BOOSTS_OF_SECTIONS.get(section, 1.0))
    page.meta.setdefault("search", {})["boost"] = boost
    return markdown


def on_files(files: Files, config) -> Files:
    """Put these files in the place of those that mkdocs found in `docs_dir`; the theme's stay."""
    for file in list(files):
        if file.src_dir == config.docs_dir:
            files.remove(file)
    for name in site_files():
        files.append(
            File(
                name, str(ROOT), config.site_dir, config.use_directory_urls, inclusion=InclusionLevel.INCLUDED
            )
        )
    return files
