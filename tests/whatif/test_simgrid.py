"""Our replay of SMPI's time-independent traces beside SimGrid's of the same
files, on machines that are alike: where the models agree, to the microsecond;
where they do not, each is what its model says, by hand.

Each host has a link out and one in, of 1 MB/s and 1 ms, and computes 1 Gflop/s;
SimGrid's corrections for TCP and its own costs of calls are switched off. Ours
is the same LogGP: L = 2 ms, G = 1 us a byte, no overheads. So slow a network
makes SimGrid's six decimals enough.
"""

import itertools
import re
import shutil

import pytest
import test_replay as replays
from harness import patience
from straightway.whatif import operations

SMPIRUN = shutil.which("smpirun")
pytestmark = pytest.mark.skipif(not SMPIRUN, reason=(
    "SimGrid's smpirun is not there (Debian: libsimgrid-dev)"))

L, G = 2e-3, 1e-6           # s; s a byte
ENVELOPE = 16               # bytes that SMPI adds to each message
EAGER = 1 << 40
PLAIN = {"network/model": "CM02", "network/latency-factor": 1,
         "network/bandwidth-factor": 1, "network/weight-S": 0,
         "network/TCP-gamma": 0, "network/crosstraffic": 0,
         "smpi/host-speed": "1Gf"}


def platform(n, path):
    hosts = "".join(
        f'<host id="h{i}" speed="1Gf"/>'
        f'<link id="out{i}" bandwidth="1MBps" latency="1ms"/>'
        f'<link id="in{i}" bandwidth="1MBps" latency="1ms"/>'
        for i in range(n))
    routes = "".join(
        f'<route src="h{i}" dst="h{j}" symmetrical="NO">'
        f'<link_ctn id="out{i}"/><link_ctn id="in{j}"/></route>'
        for i, j in itertools.permutations(range(n), 2))
    path.write_text(
        '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM '
        '"https://simgrid.org/simgrid.dtd">\n<platform version="4.1">'
        f'<zone id="z" routing="Full">{hosts}{routes}</zone></platform>\n')


def simgrid(trace, n, folder, eager):
    """Seconds."""
    platform(n, folder / "p.xml")
    (folder / "hosts").write_text("".join(f"h{i}\n" for i in range(n)))
    options = {**PLAIN, "smpi/send-is-detached-thresh": min(eager, 1 << 30)}
    done = patience.run(
        [SMPIRUN, "-replay", trace, "-platform", folder / "p.xml",
         "-hostfile", folder / "hosts", "-np", str(n),
         *(f"--cfg={key}:{value}" for key, value in options.items())],
        text=True, capture_output=True, timeout=120, cwd=folder)
    said = re.search(r"Simulation time (\S+)", done.stdout + done.stderr)
    assert done.returncode == 0 and said, done.stdout + done.stderr
    return float(said[1])


def ours(trace, n, folder, eager):
    operations.convert(trace, folder / "back.swops", forms=("smpi", "ops"))
    (folder / "a.model").write_text(
        f"ranks {n}\nplace 1 1\nlink network o_send 0 o_recv 0 "
        f"L {L * 1e9:.0f} g 0 G {G * 1e9:.0f}"
        + (f" S {eager}\n" if eager < EAGER else "\n"))
    done = replays.whatif("replay", "--check", folder / "a.model",
                          folder / "back.swops")
    assert done.returncode == 0, done.stderr
    return replays.json.loads(done.stdout)["end_ns"] / 1e9


def goal(ranks):
    """Operations of each rank, each after the one before it, unless it is in
    a list of what goes on at once."""
    text = f"num_ranks {len(ranks)}\n"
    for i, steps in enumerate(ranks):
        text += f"rank {i} {{\n"
        before, n = [], 0
        for step in steps:
            labels = []
            for line in [step] if isinstance(step, str) else step:
                n += 1
                labels.append(f"l{n}")
                text += f"l{n}: {line}\n" + "".join(
                    f"l{n} requires {label}\n" for label in before)
            before = labels
        text += "}\n"
    return text


def ping_pong():
    return goal([["calc 500000", "send 3000b to 1", "recv 5000b from 1"],
                 ["recv 3000b from 0", "calc 250000", "send 5000b to 0"]]), \
        lambda more: 0.75e-3 + 2 * L + (8000 + 2 * more) * G


def ring(n=5, size=700):
    first = [f"send {size}b to 1", f"recv {size}b from {n - 1}"]
    others = [[f"recv {size}b from {i - 1}", f"send {size}b to {(i + 1) % n}"]
              for i in range(1, n)]
    return goal([first, *others]), lambda more: n * (L + (size + more) * G)


def halo(side=3, size=1000, steps=4):
    """Messages to four neighbours, which leave one after the other, or share
    the link: the last comes as late."""
    def one(rank):
        row, column = divmod(rank, side)
        ways = ((0, 1), (0, -1), (1, 0), (-1, 0))
        for tag, (down, right) in enumerate(ways):
            to, source = (
                (row + by * down) % side * side + (column + by * right) % side
                for by in (1, -1))
            yield f"send {size}b to {to} tag {tag}"
            yield f"recv {size}b from {source} tag {tag}"
    return goal([[part for _ in range(steps)
                  for part in ("calc 100000", list(one(rank)))]
                 for rank in range(side * side)]), \
        lambda more: steps * (0.1e-3 + L + 4 * (size + more) * G)


def trace_of(case, folder):
    (folder / "a.goal").write_text(case)
    operations.convert(folder / "a.goal", folder / "a.swops")
    operations.convert(folder / "a.swops", folder / "a.smpi",
                       forms=("ops", "smpi"))
    return folder / "a.smpi"


@pytest.mark.parametrize("case", [ping_pong, ring, halo])
def test_messages_take_as_long_in_simgrid(case, tmp_path):
    text, by_hand = case()
    n = int(re.search(r"num_ranks (\d+)", text)[1])
    trace = trace_of(text, tmp_path)
    assert ours(trace, n, tmp_path, EAGER) == \
        pytest.approx(by_hand(0), rel=1e-9)
    assert simgrid(trace, n, tmp_path, EAGER) == \
        pytest.approx(by_hand(ENVELOPE), abs=1e-6)


@pytest.mark.parametrize("what, algorithm, n, steps", [
    ("allreduce", "recursive_doubling", 8, 3), ("alltoall", "pairwise", 8, 7),
    ("alltoall", "linear", 5, 4)])
def test_collectives_by_messages_take_as_long(what, algorithm, n, steps,
                                              tmp_path):
    operations.synthetic(what, n, 3, 400, 0, tmp_path / "a.swops")
    operations.convert(tmp_path / "a.swops", tmp_path / "a.goal",
                       algorithms={what: algorithm})
    trace = trace_of((tmp_path / "a.goal").read_text(), tmp_path)
    assert " send " in (tmp_path / "a.smpi.rank0").read_text() or \
        " isend " in (tmp_path / "a.smpi.rank0").read_text()
    assert ours(trace, n, tmp_path, EAGER) == \
        pytest.approx(3 * steps * (L + 400 * G))
    assert simgrid(trace, n, tmp_path, EAGER) == \
        pytest.approx(3 * steps * (L + (400 + ENVELOPE) * G), abs=1e-6)


def test_fluid_links_are_shared_ports_are_not(tmp_path):
    """A small message behind a large one: ours waits for the port, SimGrid's
    shares the link, and its receiver computes the sooner."""
    case = goal([[["send 9000b to 1", "send 1000b to 2"]],
                 ["recv 9000b from 0"],
                 ["recv 1000b from 0", "calc 20000000"]])
    trace = trace_of(case, tmp_path)
    assert ours(trace, 3, tmp_path, EAGER) == \
        pytest.approx(L + 10000 * G + 20e-3)
    assert simgrid(trace, 3, tmp_path, EAGER) == \
        pytest.approx(L + 2 * (1000 + ENVELOPE) * G + 20e-3, abs=1e-6)


def test_rendezvous_costs_no_handshake_in_simgrid(tmp_path):
    """Above the threshold both wait for the receiver, which comes late. Our
    receiver then answers the sender's request, which takes L. Our sender is
    done when the data have left. SimGrid's data leave at once, and its sender
    is done when they have come."""
    case = goal([["send 4000b to 1", "calc 1000000"],
                 ["calc 5000000", "recv 4000b from 0"]])
    trace = trace_of(case, tmp_path)
    assert simgrid(trace, 2, tmp_path, 0) == pytest.approx(
        5e-3 + L + (4000 + ENVELOPE) * G + 1e-3, abs=1e-6)
    assert ours(trace, 2, tmp_path, 0) == pytest.approx(
        5e-3 + L + L + 4000 * G)
