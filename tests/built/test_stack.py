"""No call takes more than 8 KiB of stack, whatever it leads to inside: a
program may call MPI in a thread whose stack is small."""

import re

import pytest
from harness.hosts import ROOT
from harness.programs import run, well

MOST = 8192
BUILT = ROOT / "build" / "wheel" / "CMakeFiles"
ROOMS = ["node", "topology", "coll", "p2p", "match", "layout", "offload",
         "rma", "profile", "feed"]

# What is called through a pointer: in the left, the right.
HOOKS = {
    "sw_wait_step": ["sw_progress"],
    "sw_progress": ["sw_shadow_progress"],
    "sw_reducer_combine": ["sw_reduce_kernels"],
    "sw_matcher_local": ["sw_near_meet", "sw_matcher_rooms"],
    "sw_matcher_turn": ["sw_near_meet", "sw_matcher_rooms"],
    "sw_matcher_hand": ["sw_near_meet"],
}
NODE = re.compile(r'node: \{ title: "([^"]+)" label: "[^"]*?\\n(\d+) bytes '
                  r'\(([^)]*)\)')
EDGE = re.compile(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"')
# Code of mpi/request calls what a kind of request does, or the host; a kind may
# lead to any function that is private to these files.
BY_KIND = re.compile(r'edge: \{ sourcename: "([^"]+)" targetname: '
                     r'"__indirect_call" label: "[^"]*/mpi/request/')
OF_KIND = re.compile(r'node: \{ title: "([^"]+\.c:[^"]+)" label: '
                     r'"[^"]*/mpi/p2p/(?:near_receive|near_send|either|pair)'
                     r'\.c')
# What the matcher asks of the room above by a pointer.
OF_MATCHER = re.compile(r'node: \{ title: "([^"]*(?:either\.c:claim|'
                        r'near_pieces\.c:take))"')
KERNEL = re.compile(r"(.*/)?kernels?_\w+\.c:")


class Calls:
    """What each function takes of the stack, and calls."""

    def __init__(self, folders):
        self.size, self.kind, self.calls, self.known = {}, {}, {}, {}
        self.unknown = []       # objects without a call graph
        for folder in folders:
            for path in folder.rglob("*.c.o"):
                graph = path.with_suffix(".ci")
                if graph.exists():
                    self.read(graph.read_text())
                else:
                    self.unknown.append(path)
        for caller, callees in HOOKS.items():
            self.calls.setdefault(caller, set()).update(callees)
        self.calls["sw_reduce_kernels"] = {
            name for name in self.size if KERNEL.match(name)}

    def read(self, text):
        for name, size, kind in NODE.findall(text):
            self.size[name] = int(size)
            self.kind[name] = kind
        for caller, callee in EDGE.findall(text):
            self.calls.setdefault(caller, set()).add(callee)
        for caller in BY_KIND.findall(text):
            self.calls.setdefault(caller, set()).add("sw_request_kinds")
        self.calls.setdefault("sw_request_kinds", set()).update(
            OF_KIND.findall(text))
        self.calls.setdefault("sw_matcher_rooms", set()).update(
            OF_MATCHER.findall(text))

    def deepest(self, name):
        """(bytes, names) of the deepest chain in which each function is once:
        layouts and datatypes nest as deep as a program makes them, and progress
        does not nest."""
        if name not in self.known:
            self.visit(name, {}, [])
        return self.known[name]

    def visit(self, name, order, path):
        """Tarjan's walk: find the circles of calls below `name`, the deepest
        first. Returns the earliest of `path` that `name` leads to."""
        low = order[name] = len(order)
        path.append(name)
        for callee in self.calls.get(name, ()):
            if callee not in order and callee not in self.known:
                low = min(low, self.visit(callee, order, path))
            elif callee in path:
                low = min(low, order[callee])
        if low == order[name]:
            start = path.index(name)
            circle = set(path[start:])
            del path[start:]
            self.known.update({one: self.within(one, circle, ())
                               for one in sorted(circle)})
        return low

    def within(self, name, circle, above):
        """The deepest chain from `name`: over functions of its circle that are
        not yet in the chain, then out of it."""
        above = (*above, name)
        below = max((self.within(callee, circle, above) if callee in circle
                     else self.known[callee]
                     for callee in self.calls.get(name, ())
                     if callee not in above), default=(0, ()))
        return self.size.get(name, 0) + below[0], (name, *below[1])


@pytest.mark.parametrize("flavour", ["ompi", "mpich", "abi"])
def test_no_chain_of_calls_takes_more_than_8_kib(flavour):
    folders = [BUILT / f"sw_{room}.dir" for room in ROOMS]
    own = BUILT / f"straightway-{flavour}.dir"
    if not own.exists():
        pytest.skip(f"flavour {flavour} is not built in {BUILT}")
    calls = Calls([*folders, own])
    if not calls.size:
        pytest.skip("this compiler does not tell what functions call "
                    "(gcc 10 and later do: -fcallgraph-info)")
    # A compiler cache keeps objects alone: build without one.
    assert not calls.unknown
    assert len(calls.calls["sw_request_kinds"]) > 20
    assert "sw_request_kinds" in calls.calls["sw_shadow_finish"]
    assert len(calls.calls["sw_matcher_rooms"]) == 2
    entries = [name for name in calls.size
               if re.search(r"(^|:)sw_(MPI|recorded_MPI|virtual_MPI)_", name)]
    assert len(entries) > 400
    boundless = [name for name, kind in calls.kind.items()
                 if kind == "dynamic"]
    assert not boundless
    deep = {entry: calls.deepest(entry) for entry in entries}
    over = {entry: (size, " > ".join(
        f"{name} {calls.size.get(name, 0)}" for name in chain))
        for entry, (size, chain) in deep.items() if size > MOST}
    assert not over


def test_every_call_fits_a_thread_with_64_kib(host):
    # MPICH 4.0 takes more than 128 KiB by itself to make a communicator.
    well(run(host, 2, "small_stacks", 256 if host.name == "debian-mpich"
             else 64))
