"""The pages: their links, their place in the site, the commands that they
name. The site itself is a deep test."""

import importlib.util
import pathlib
import re
import shlex
import subprocess
import sys

import pytest
from straightway import cli, commands

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *ROOT.glob("*.md")])
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


def module(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def prose(text):
    """A page without its code."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return "\n".join(line for line in text.splitlines()
                     if not line.startswith("    "))


# Links ------------------------------------------------------------------------

def anchors(text):
    """The anchors that a code host and the site make of headings."""
    return {re.sub(r"[^\w\- ]", "", re.sub(r"\[(.*?)\]\(.*?\)", r"\1", title)
                   .strip().lower()).replace(" ", "-")
            for title in re.findall(r"^#+ (.*)$", prose(text), re.M)}


def broken(page, text):
    """The links of a page that lead nowhere."""
    for link in re.findall(r"\]\(([^)\s]+)\)", re.sub("`[^`]*`", "",
                                                      prose(text))):
        if re.match("https?:", link):
            continue
        name, _, anchor = link.partition("#")
        to = (page.parent / name).resolve() if name else page
        if to != page and not (to.is_relative_to(ROOT) and to.exists()):
            yield link
        elif anchor and anchor not in anchors(
                text if to == page else to.read_text()):
            yield link


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name):
    page = ROOT / name
    assert not list(broken(page, page.read_text()))


@pytest.mark.parametrize("text, link", [
    ("See [x](nowhere.md).", "nowhere.md"),
    ("# Here\n\n[x](#there)", "#there"),
    ("[x](profile.md#no-such-part)", "profile.md#no-such-part"),
    ("[x](../../outside.md)", "../../outside.md")])
def test_a_broken_link_is_found(text, link):
    assert list(broken(DOCS / "page.md", text)) == [link]


@pytest.mark.parametrize("text", [
    "[x](profile.md#what-is-recorded)", "    [x](code.md)", "`[x](code.md)`",
    "# A `b`, c: d\n\n[x](#a-b-c-d)", "[x](https://example.org/a)"])
def test_a_good_link_is_none(text):
    assert not list(broken(DOCS / "page.md", text))


@pytest.mark.parametrize("name", NAMES)
def test_pages_are_mentioned_by_links(name):
    """A page's name in plain text is a link that nobody made."""
    if name == "CHANGELOG.md":
        return
    text = re.sub(r"\[[^]]*\]\([^)]*\)|`[^`]*`", "", prose(
        (ROOT / name).read_text()))
    assert not re.findall(r"\bdocs/[\w-]+\.md", text)


# The site's contents ----------------------------------------------------------

def test_each_page_is_in_the_contents():
    conf = module("conf")
    start = (DOCS / "index.md").read_text()
    pages = [line for part in conf.contents(start)
             for line in part.splitlines() if re.match(r"[\w./-]+$", line)]
    assert len(pages) == len(set(pages))
    for page in DOCS.glob("*.md"):
        assert page.stem in pages or page.stem == "index", page
    for page in ("README", "ARCHITECTURE", "SECURITY", "CONTRIBUTING"):
        assert f"../{page}" in pages


def test_contents_follow_the_start_page():
    parts = list(module("conf").contents(
        "# T\n\n[z](z.md)\n\n## One\n\n* [a](a.md), [b](../b.md#x)\n"
        "* [c](../c.md)\n\n## None\n\ntext\n\n## Two\n\n[a](a.md) [d](d.md)"))
    assert [part.splitlines()[2:-1] for part in parts] == [
        [":caption: One", "", "a", "../c"], [":caption: Two", "", "d"]]


def test_pictures_are_made_under_the_names_that_pages_show():
    shown = set(re.findall(r"plots/picture-(\w+)\.", (
        DOCS / "pictures.md").read_text()))
    made = re.search(r"for report in \((.*?)\)", (
        DOCS / "make_pictures.py").read_text())[1]
    assert shown == set(made.split(", "))
    for name in shown:
        assert list((DOCS / "plots").glob(f"picture-{name}.*"))


def test_the_calls_are_those_of_the_headers():
    library, page = module("make_library"), (DOCS / "library.md").read_text()
    assert library.page(page) == page, "run docs/make_library.py"
    for header in library.HEADERS:
        text = (ROOT / "include" / header).read_text()
        plain = re.findall(r"^STRAIGHTWAY_CALL_\(\w+, (\w+)", text, re.M)
        names = {f"straightway_{name}" for name in plain} | set(re.findall(
            r"^static inline \w+ (\w+)\([^;{]*;", text, re.M))
        assert names and names == {call[0] for call in library.calls(text)}
        for name in names:
            assert f"\n### {name}\n" in page


# Commands ---------------------------------------------------------------------

def settings():
    """The options of `straightway run`, from the table of settings."""
    text = (ROOT / "src" / "node" / "base" / "settings.def").read_text()
    names = [name.lower().replace("_", "-") for name in re.findall(
        r"SETTING\(\w+, \w+, (\w+)", text)]
    own = re.search(r"own\[\] = \{(.*?)NULL", (
        ROOT / "src" / "command" / "options.c").read_text(), re.S)[1]
    return {*re.findall(r'"(-[\w-]+)"', own), "-h",
            *(f"--{no}{name}" for name in names for no in ("", "no-"))}


def parsers(word):
    """{words: parser} of a Python command and those below it."""
    found, (top,) = {}, [
        action.choices[word] for action in cli._parser(word)._actions
        if action.dest == "command"]

    def visit(words, parser):
        found[words] = parser
        below = dict(getattr(parser, "below", {}))
        for action in parser._actions:
            if isinstance(getattr(action, "choices", None), dict) and \
                    action.nargs == "A...":
                below.update(action.choices)
        for name, child in below.items():
            visit((*words, name), child)

    visit((word,), top)
    return found


KNOWN = {"run": settings(), "profile": settings()}
PARSERS = {words: parser for name in commands.CLASSES
           for words, parser in parsers(name).items()}
TOP = ("--version", "--help", "--cflags", "--completion", "COMMAND")
STOPS = ("./", "python", "|", ">", "#", "&&", ";")


def lines(text):
    """The lines of a page's code, joined where a backslash says so."""
    code = [line for line in text.replace("\\\n", " ").splitlines()
            if line.startswith("    ")]
    return code + re.findall(r"`([^`]+)`", re.sub(r"^    .*$", "", text,
                                                  flags=re.M))


def wrong(line):
    """What is wrong with the `straightway` commands of a line."""
    for text in re.findall(r"(?:^|(?<!from)[\s/])straightway ([a-z-].*)",
                           line):
        try:
            words = shlex.split(text, comments=True)
        except ValueError:
            words = text.split()
        if words and words[0].rstrip(")") in TOP:
            continue
        name, rest = words[0], words[1:]
        if name in KNOWN:
            known = KNOWN[name]
        elif name in commands.CLASSES:
            path = (name,)
            while rest and (*path, rest[0]) in PARSERS:
                path, rest = (*path, rest[0]), rest[1:]
            known = {option for action in PARSERS[path]._actions
                     for option in action.option_strings}
        else:
            yield f"straightway {name}"
            continue
        for word in rest:
            if word.startswith(STOPS):
                break
            option = word.partition("=")[0].rstrip(",.;:)")
            if re.match(r"--?[a-z][\w-]*$", option) and option not in known:
                yield f"straightway {name} {option}"


@pytest.mark.parametrize("name", [name for name in NAMES
                                  if name != "CHANGELOG.md"])
def test_commands_of_a_page_exist(name):
    assert not [found for line in lines((ROOT / name).read_text())
                for found in wrong(line)]


@pytest.mark.parametrize("line, count", [
    ("straightway run --stats ./app --anything", 0),
    ("mpirun -n 2 straightway run --statz ./app", 1),
    ("straightway rum ./app", 1),
    ("straightway bench pingpong --sizes 8 --nothing", 1),
    ("straightway whatif run -n 4 --free all ./app", 0),
    ("straightway whatif run -n 4 --fee all ./app", 1),
    ("straightway report a.swcap --html", 0),
    ("$sw/bin/straightway doctor --jason x", 1),
    ("straightway where", 0), ("a straightway cell --no", 1)])
def test_a_wrong_command_is_found(line, count):
    assert len(list(wrong(line))) == count


def test_settings_of_pages_exist():
    text = (ROOT / "src" / "node" / "base" / "settings.def").read_text()
    names = set(re.findall(r"SETTING\(\w+, \w+, (\w+)", text))
    other = {"OMPI_INCLUDE", "MPICH_INCLUDE", "ABI_INCLUDE", "MPI_PREFIXES",
             "FETCH_HEADERS", "TEST_HOSTS", "TESTS", "ROOMS_ONLY", "SANITIZE",
             "SUITES", "DEEP", "LIB", "VERSION"}
    for page in PAGES:
        if page.name != "CHANGELOG.md":
            found = set(re.findall(r"\bSTRAIGHTWAY_([A-Z0-9_]*[A-Z0-9])\b",
                                   page.read_text()))
            assert found <= names | other, page


def test_findings_of_the_page_are_those_of_the_reports():
    page = (DOCS / "reports.md").read_text()
    source = (ROOT / "straightway" / "profile" / "findings.py").read_text()
    found = re.findall(r'Finding\(\s*"([\w-]+)", f?"([^"{]*)', source)
    rows = re.search(r"^\| the report says .*?\n\n", page, re.M | re.S)[0]
    assert len(found) == len(rows.strip().splitlines()) - 2 > 0
    for kind, title in found:
        assert re.search(rf"^\| {re.escape(title)}.* \| `{kind}` \| ", rows,
                         re.M), kind


def test_files_that_the_map_names_exist():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    names = set(re.findall(r"\b([a-z][\w/-]*/[\w-]+\.(?:c|h|py|def|txt))\b",
                           text))
    assert len(names) > 50
    for name in names:
        assert any((ROOT / below / name).exists() for below in (
            "", "src", "straightway", "generated")) or \
            name.startswith(("entries/", "generated/")), name


# The site ---------------------------------------------------------------------

@pytest.mark.deep
def test_the_site_is_made_without_a_warning(tmp_path):
    if importlib.util.find_spec("sphinx") is None:
        pytest.skip("no Sphinx: pip install -r docs/requirements.txt")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b",
         "html", "-d", tmp_path / "trees", "-c", DOCS, ROOT,
         tmp_path / "site"], text=True, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr
    for page in DOCS.glob("*.md"):
        assert (tmp_path / "site" / "docs" / f"{page.stem}.html").exists()
    assert "docs/index.html" in (tmp_path / "site" / "index.html").read_text()
    assert (tmp_path / "site" / "searchindex.js").exists()
