"""Which tests run under which MPIs.

A run under every MPI repeats each test six times, for few more faults found.
So a short run takes two of them for each test: one of Open MPI's family and
one of MPICH's. Variations of a test (sizes, seeds, settings) take others in
turn, so that all MPIs get their share of every test. A test with MANY
variations (two or more) takes one MPI for each of them, of either family in
turn. So does a test of a TOOL, in whose results MPIs differ little. The choice
depends on nothing but names: it is the same in every run.
"""

import collections
import pathlib
import zlib

import pytest

LEAST = 2
MANY = 2
# Folders of tests, below the folder of all.
TOOLS = ("bench", "examples", "front/python", "harness", "machine",
         "mpi/record", "mpi/virtual", "neighbours", "profile", "study",
         "whatif", "where")
TESTS = pathlib.Path(__file__).resolve().parents[1]


def families(hosts):
    """The hosts of Open MPI's family, and those of MPICH's; either only where
    it has some."""
    found = collections.defaultdict(list)
    for host in hosts:
        found[host.flavour == "ompi"].append(host)
    return [family for _, family in sorted(found.items())]


def pair(hosts, turn):
    """Two of the hosts, of different families where there are such."""
    groups = families(hosts)
    if len(groups) > 1:
        return [family[turn % len(family)] for family in groups]
    (family,) = groups
    return [family[(turn + i) % len(family)]
            for i in range(min(LEAST, len(family)))]


def one(hosts, turn):
    """One of the hosts, of either family in turn."""
    groups = families(hosts)
    family = groups[turn % len(groups)]
    return [family[turn // len(groups) % len(family)]]


def in_turn(variations, tool=False):
    """{variation: hosts} of one test, from {variation: hosts that can}."""
    # In no order of the parameters: "on" must not meet one family alone.
    order = sorted(variations, key=lambda it: zlib.crc32(repr(it).encode()))
    choose = one if tool or len(order) >= MANY else pair
    begin = zlib.crc32(order[0][0].encode())
    return {variation: choose(variations[variation], begin + turn)
            for turn, variation in enumerate(order)}


def some(values, each=2):
    """Parameters: each second of the values in a short run, or each third, and
    so on; all in a deep one."""
    return [pytest.param(value, marks=[pytest.mark.deep] if i % each else [])
            for i, value in enumerate(values)]


def unable(item):
    """Why the test cannot run under its host; None where it can.

    Marked by `@pytest.mark.unable(NAME or predicate, ..., why="...")`.
    """
    host = _host(item)
    for mark in item.iter_markers("unable") if host else ():
        if any(it(host) if callable(it) else it == host.name
               for it in mark.args):
            return mark.kwargs["why"]
    return None


def chosen(items):
    """The items of a short run: of each test and MPI those that in_turn says,
    among the MPIs that can."""
    tests = collections.defaultdict(lambda: collections.defaultdict(list))
    for item in items:
        if _host(item) and not unable(item):
            variation = _variation(item)
            test = variation[0], _is_of_a_tool(item)
            tests[test][variation].append(_host(item))
    its = {}
    for (_, tool), variations in tests.items():
        its.update(in_turn(variations, tool))
    return [item for item in items if not _host(item) or
            _host(item) in its.get(_variation(item), ())]


def _host(item):
    callspec = getattr(item, "callspec", None)
    return callspec.params.get("host") if callspec else None


def _is_of_a_tool(item):
    path = pathlib.Path(item.path)
    return any(TESTS / tool in path.parents for tool in TOOLS)


def _variation(item):
    """(the test function, its other parameters)"""
    rest = [(name, repr(value)) for name, value in
            sorted(item.callspec.params.items()) if name != "host"]
    return f"{item.path.name}::{item.originalname}", tuple(rest)
