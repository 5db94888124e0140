"""Which tests run under which MPIs.

A run under every MPI repeats each test six times, for few more faults found.
So a short run takes one MPI for each test. A file of tests has two of them, one
of Open MPI's family and one of MPICH's, so that a program is compiled for few.
A short run has half of a test's variations (sizes, seeds, settings), which take
these two in turn. Other files have other MPIs, so that all get their share. The
choice depends on nothing but names: it is the same in every run.
"""

import collections
import zlib

import pytest


def families(hosts):
    """The hosts of Open MPI's family, and those of MPICH's; either only where
    it has some."""
    found = collections.defaultdict(list)
    for host in hosts:
        found[host.flavour == "ompi"].append(host)
    return [family for _, family in sorted(found.items())]


def one(hosts, file, turn):
    """One of the hosts: of either family in turn the one that the file has."""
    groups = families(hosts)
    family = groups[turn % len(groups)]
    return family[zlib.crc32(file.encode()) // len(groups) % len(family)]


def in_turn(variations):
    """{variation: host} of one test, from {variation: hosts that can}."""
    # In no order of the parameters: "on" must not meet one family alone.
    order = sorted(variations, key=lambda it: zlib.crc32(repr(it).encode()))
    order = order[::2]
    test, _ = order[0]
    file, _, _ = test.partition("::")
    begin = zlib.crc32(test.encode())
    return {variation: one(variations[variation], file, begin + turn)
            for turn, variation in enumerate(order)}


def some(values, each=2):
    """Parameters: each second of the values in a short run, or each third, and
    so on; all in a deep one."""
    return [pytest.param(*(value if isinstance(value, tuple) else (value,)),
                         marks=[pytest.mark.deep] if i % each else [])
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
            tests[variation[0]][variation].append(_host(item))
    its = {}
    for variations in tests.values():
        its.update(in_turn(variations))
    return [item for item in items if not _host(item) or
            _host(item) is its.get(_variation(item))]


def _host(item):
    callspec = getattr(item, "callspec", None)
    return callspec.params.get("host") if callspec else None


def _variation(item):
    """(the test function, its other parameters)"""
    rest = [(name, repr(value)) for name, value in
            sorted(item.callspec.params.items()) if name != "host"]
    return f"{item.path.name}::{item.originalname}", tuple(rest)
