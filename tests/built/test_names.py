"""A function's name says where it stands (CONTRIBUTING.md)."""

import pathlib
import re

import pympistandard

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "src"

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
# A declaration or a definition at the beginning of a line.
FUNCTION = re.compile(r"^(?:[a-zA-Z_][\w ]*[ *\n])\**(sw_[a-z0-9_]+)\(",
                      re.MULTILINE)
TYPE = re.compile(r"\bsw_(\w+)_t\b")


def names(path):
    return FUNCTION.findall(COMMENT.sub("", path.read_text()))


def words(text):
    """The text and each of its words, without the ending of a plural."""
    return {re.sub("(s|ies|y)$", "", word) or word
            for word in [text, *text.split("_")]}


def match(noun, word):
    """One word, in any of its forms: show and shown, record and recorded."""
    return noun == word or min(len(noun), len(word)) > 2 and \
        (noun.startswith(word) or word.startswith(noun))


def procedures():
    """The names of MPI's procedures without MPI_, in small letters."""
    pympistandard.use_api_version(1)
    return {name.removeprefix("mpi_") for name in pympistandard.PROCEDURES}


def ours():
    """The names of the library's own procedures, without straightway_."""
    header = SOURCE.parent / "include" / "straightway_mpi.h"
    return set(re.findall(r"\bstraightway_(\w+)\(", header.read_text()))


def strangers(header, calls):
    """A header's functions without a noun that leads to them."""
    nouns = set()
    for path in header.parent.glob("*.[ch]"):
        nouns |= words(path.stem)
    for folder in header.relative_to(SOURCE).parts[:-1]:
        nouns |= words(folder)
    for name in TYPE.findall(COMMENT.sub("", header.read_text())):
        nouns |= words(name)
    for function in names(header):
        name = function.removeprefix("sw_")
        if name not in calls and not any(match(noun, word) for noun in nouns
                                         for word in words(name)):
            yield function


def test_a_function_has_a_noun_that_leads_to_its_header():
    calls = procedures() | ours()
    # What node/base gives to every file needs no noun: sw_min, sw_say.
    headers = sorted(path for path in SOURCE.rglob("*.h")
                     if path.parent != SOURCE / "node" / "base")
    assert sum(len(names(header)) for header in headers) > 1000
    wrong = [f"{header.relative_to(SOURCE)}: {function}"
             for header in headers
             for function in strangers(header, calls)]
    assert not wrong, "\n".join(wrong)
