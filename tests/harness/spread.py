"""Which tests run under which MPIs.

A run under every MPI repeats each test six times, for few more faults found.
So a short run takes two of them for each test: one of Open MPI's family and
one of MPICH's. Variations of a test (sizes, seeds, settings) take others in
turn, so that all MPIs get their share of every test. The choice depends on
nothing but names: it is the same in every run.
"""

import collections
import zlib

LEAST = 2


def pair(hosts, turn):
    """Two of the hosts, of different families where there are such."""
    families = collections.defaultdict(list)
    for host in hosts:
        families[host.flavour == "ompi"].append(host)
    two = [family[turn % len(family)] for _, family in sorted(
        families.items())]
    if len(families) == 1:
        (family,) = families.values()
        two = [family[(turn + i) % len(family)]
               for i in range(min(LEAST, len(family)))]
    return two


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
    """The items of a short run: for each test a pair of the hosts that can."""
    hosts, turns = {}, collections.Counter()
    for item in items:
        if _host(item) and not unable(item):
            hosts.setdefault(_variation(item), []).append(_host(item))
    pairs = {}
    for variation, its in hosts.items():
        function = variation[0]
        turn = zlib.crc32(function.encode()) + turns[function]
        turns[function] += 1
        pairs[variation] = pair(its, turn)
    return [item for item in items if not _host(item) or
            _host(item) in pairs.get(_variation(item), ())]


def _host(item):
    callspec = getattr(item, "callspec", None)
    return callspec.params.get("host") if callspec else None


def _variation(item):
    """(the test function, its other parameters)"""
    rest = [(name, repr(value)) for name, value in
            sorted(item.callspec.params.items()) if name != "host"]
    return f"{item.path.name}::{item.originalname}", tuple(rest)
