"""The site: make docs.

The source folder is the repository, so that links hold here as they do on a
code host. docs/index.md is the start page. It is plain Markdown: its headings
and links become the site's contents. build/pictures has the reports of today's
code (make_pictures.py), which take the place of the committed ones.
"""

import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURES = ROOT / "build" / "pictures"

project = "Straightway"
author = "the authors of Straightway"
version = release = re.search(r'^version = "(.*)"', (
    ROOT / "pyproject.toml").read_text(), re.M).group(1)

extensions = ["myst_parser"]
myst_heading_anchors = 4
highlight_language = "none"
root_doc = "docs/index"
include_patterns = ["*.md", "docs/*.md"]
exclude_patterns = [name for name in os.listdir(ROOT)
                    if (ROOT / name).is_dir() and name != "docs"]

html_theme = "furo"
html_title = f"Straightway {version}"
html_copy_source = False
html_extra_path = [str(PICTURES)] if PICTURES.is_dir() else []
# A check of links looks at files and anchors, never at the network.
linkcheck_ignore = ["https?://.*"]


def contents(text):
    """The contents of the site from the start page: a list of pages for each
    of its headings. A page belongs to the first heading that names it."""
    seen = set()
    for part in re.split(r"^## ", text, flags=re.M)[1:]:
        pages = [page for page in re.findall(r"\]\(([\w./-]+)\.md\)", part)
                 if not (page in seen or seen.add(page))]
        if pages:
            yield "\n".join(["```{toctree}", ":hidden:",
                             f":caption: {part.splitlines()[0]}", "",
                             *pages, "```", ""])


def read(app, name, source):
    if name == root_doc:
        source[0] += "\n" + "\n".join(contents(source[0]))
    elif name == "docs/pictures":
        source[0] += "".join(
            f'\n* <a href="../reports/{page.name}">{page.stem}</a>, whole\n'
            for page in sorted(PICTURES.glob("reports/*.html")))


def start(app, error):
    """A browser that opens the folder comes to the start page."""
    if not error and app.builder.format == "html":
        (pathlib.Path(app.outdir) / "index.html").write_text(
            '<!doctype html>\n<meta http-equiv="refresh" content="0; '
            f'url={root_doc}.html">\n<title>{html_title}</title>\n')


def setup(app):
    app.connect("source-read", read)
    app.connect("build-finished", start)
    return {"parallel_read_safe": True}
