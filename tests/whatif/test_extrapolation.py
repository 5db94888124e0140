"""More ranks than the program ran with: the extrapolation leaves out what does
not matter. It refuses what differs between ranks, and says so."""

import itertools
import json
import re

import pytest
import test_replay as replays
import test_whatif_live as live
from harness import programs
from harness.hosts import ROOT
from straightway.errors import UserError
from straightway.whatif import operations

KERNELS = ROOT / "examples" / "kernels"


def record(host, n, name, words, folder):
    """(operations, result) of a kernel in virtual time; computing is free."""
    program = host.compile(KERNELS / f"{name}.c", "-lm")
    folder.mkdir()
    done, result = live.virtual(
        host, n, [program, *words], folder,
        env={"STRAIGHTWAY_WHATIF_RECORD": str(folder / "a.swops")})
    assert done.returncode == 0 and " VERIFIED" in done.stdout, done
    return folder / "a.swops", result


def extrapolated(ops, n, folder):
    operations.extrapolate(ops, n, folder / "more.swops")
    done = replays.whatif("replay", folder / "run.model",
                          folder / "more.swops")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name, words", [
    ("alltoall", (64, 20)), ("ft", (16, 3)), ("is", (4096, 3)),
    ("planewave", (8, 2, 3))])
def test_running_programs_are_extrapolated(host, name, words, tmp_path):
    """Ranks compute for different times, and in different pieces."""
    few, _ = record(host, 4, name, words, tmp_path / "few")
    _, real = record(host, 8, name, words, tmp_path / "real")
    found = extrapolated(few, 8, tmp_path / "real")
    assert found["extrapolated"] and found["ranks"] == 8
    calls = [{what: one["calls"] for what, one in
              result["collectives"].items()} for result in (found, real)]
    assert calls[0] == calls[1]
    if name == "alltoall":          # its blocks stay as they are
        assert found["end_ns"] == pytest.approx(real["end_ns"], rel=1e-3)


@pytest.mark.parametrize("name, words", [("cg", (256, 1)), ("mg", (16, 1))])
def test_what_is_in_the_way_is_said(host, name, words, tmp_path):
    """Partners whose place on more ranks the record does not tell."""
    ops, _ = record(host, 4, name, words, tmp_path / "few")
    with pytest.raises(UserError, match=(
            r"operation \d+ of rank 0 \((send|receive) \d+ (to|from) \d+ .*\) "
            "has a partner")):
        operations.extrapolate(ops, 8, tmp_path / "more.swops")
    assert not (tmp_path / "more.swops").exists()


WINDOWS = programs.source("virtual_window_ring.c")


def ring_of_windows(host, n, folder, *words):
    folder.mkdir()
    done, result = live.virtual(
        host, n, [host.compile(WINDOWS), *words], folder,
        env={**live.one_sided(host),
             "STRAIGHTWAY_WHATIF_RECORD": str(folder / "a.swops")})
    assert done.returncode == 0 and " VERIFIED" in done.stdout, done
    return folder / "a.swops", result


def test_windows_are_extrapolated(host, tmp_path):
    """To the operations, and so to the time, of as many ranks."""
    few, _ = ring_of_windows(host, 4, tmp_path / "few")
    _, real = ring_of_windows(host, 8, tmp_path / "real")
    found = extrapolated(few, 8, tmp_path / "real")
    assert found["extrapolated"] and found["ranks"] == 8
    assert found["end_ns"] == pytest.approx(real["end_ns"], rel=1e-3)
    for what in ("messages", "bytes"):
        assert found[what] == real[what]


def test_windows_of_some_ranks_are_in_the_way(host, tmp_path):
    ops, _ = ring_of_windows(host, 8, tmp_path / "few", "half")
    with pytest.raises(UserError, match="another communicator than"):
        operations.extrapolate(ops, 16, tmp_path / "more.swops")


# Without an MPI -------------------------------------------------------------

@pytest.fixture
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(path, ranks):
    """A GOAL file: the lines of each rank."""
    path.write_text(f"num_ranks {len(ranks)}\n" + "".join(
        f"rank {i} {{\n" + "".join(f"{line}\n" for line in lines) + "}\n"
        for i, lines in enumerate(ranks)))
    operations.convert(path, path.with_suffix(".swops"))
    return path.with_suffix(".swops")


def ring(rank, n):
    """Messages both ways. Odd ranks wait for them in the other order, and
    compute in more pieces."""
    left, right = (rank - 1) % n, (rank + 1) % n
    order = "ab" if rank % 2 else "ba"
    return ["w: calc 10", *(["v: calc 5", "v requires w"]
                            if rank % 2 else []),
            f"a: recv 8b from {left} tag 1", f"b: recv 8b from {right} tag 2",
            f"c: send 8b to {right} tag 1", f"d: send 8b to {left} tag 2",
            *(f"{one} requires {'v' if rank % 2 else 'w'}" for one in "abcd"),
            "x: calc 20", f"x requires {order[0]}",
            f"y: calc {30 + rank}", "y requires x", f"y requires {order[1]}"]


def test_order_and_pieces_do_not_matter(_here, tmp_path):
    ops = write(tmp_path / "a.goal", [ring(rank, 4) for rank in range(4)])
    firsts = {tuple(line for line in lines if line.startswith("wait"))
              for lines in replays.text_of(ops).values()}
    assert len(firsts) > 1          # else the test would be of nothing
    operations.extrapolate(ops, 6, "b.swops")
    for rank, lines in replays.text_of("b.swops").items():
        left, right = (rank - 1) % 6, (rank + 1) % 6
        messages = sorted(line.split(" request")[0] for line in lines
                          if line.startswith(("send", "receive")))
        assert messages == sorted([
            f"receive 8 from {left} tag 1", f"receive 8 from {right} tag 2",
            f"send 8 to {right} tag 1", f"send 8 to {left} tag 2"])
        # Each computes as long as the rank that it is made from.
        assert sum(float(line.split()[1]) for line in lines
                   if line.startswith("compute")) == \
            60 + rank % 4 + 5 * (rank % 2)
    assert replays.replay("b.swops", "eager", 6, tmp_path)["messages"] == 12


def test_there_is_one_root(_here, tmp_path):
    """Ranks made from it gather and scatter nothing for others."""
    (tmp_path / "a.smpi").write_text("".join(
        f"{rank} init\n{rank} gather 10 10 0\n{rank} scatter 20 20 0\n"
        f"{rank} finalize\n" for rank in range(3)))
    operations.convert("a.smpi", "a.swops")
    operations.extrapolate("a.swops", 7, "b.swops")
    assert replays.text_of("b.swops") == {rank: [
        f"gather 10 sent 10 received {70 * (not rank)} root 0",
        f"scatter 20 sent {140 * (not rank)} received 20 root 0"]
        for rank in range(7)}


def cube(rank, side):
    """Messages in three dimensions, both ways."""
    at = [rank // side ** d % side for d in range(3)]
    for tag, (d, by) in enumerate(itertools.product(range(3), (1, -1))):
        there = [(x + (by if e == d else 0)) % side for e, x in enumerate(at)]
        here = [(x - (by if e == d else 0)) % side for e, x in enumerate(at)]
        to, source = (sum(x * side ** e for e, x in enumerate(place))
                      for place in (there, here))
        yield f"send 8b to {to} tag {tag}"
        yield f"recv 8b from {source} tag {tag}"


def test_a_grid_of_three_dimensions_grows(_here, tmp_path):
    operations.extrapolate(
        write(tmp_path / "a.goal", [cube(rank, 3) for rank in range(27)]),
        64, "b.swops")
    write(tmp_path / "c.goal", [cube(rank, 4) for rank in range(64)])
    found, expected = (replays.text_of(path)
                       for path in ("b.swops", "c.swops"))
    for rank in range(64):
        assert sorted(found[rank]) == sorted(expected[rank])


@pytest.mark.parametrize("lines, said", [
    ((["calc 9", "send 8b to 1 tag 3"], ["recv 8b from 0 tag 3"],
      ["send 8b to 0"], ["recv 8b from 2"]),
     r"operation 1 of rank 1 \(receive 8 from 0 tag 3\) is of another kind "
     r"than operation 2 of rank 0 \(send 8 to 1 tag 3\)"),
    ((["calc 9"], ["calc 3"], ["calc 9", "send 8b to 0"], []),
     r"operation 2 of rank 2 \(send 8 to 0 tag 0\) is of another kind than "
     r"operation 2 of rank 0 \(the end\)"),
    ([f"recv 8b from {rank ^ 1}" for rank in range(4)], "half-way round"),
    ([f"send {8 + rank % 2}b to {(rank + 1) % 4}" for rank in range(4)],
     r"operation 1 of rank 1 \(send 9 to 2 tag 0\) has another size than "),
    ([f"send 8b to {(0, 2, 3, 1)[rank]}" for rank in range(4)],
     "not as far away as others'"),
])
def test_what_differs_is_shown(_here, lines, said, tmp_path):
    ops = write(tmp_path / "a.goal",
                [[one] if isinstance(one, str) else one for one in lines])
    with pytest.raises(UserError, match=said):
        operations.extrapolate(ops, 8, "b.swops")


def test_a_grid_that_cannot_grow_so_is_refused(_here, tmp_path):
    ops = write(tmp_path / "a.goal", [cube(rank, 3) for rank in range(27)])
    with pytest.raises(UserError, match="3 dimensions, which 31 ranks"):
        operations.extrapolate(ops, 31, "b.swops")
    assert re.search("rank 26", replays.whatif(
        "convert", "--extrapolate", 27, ops, "c.swops").stderr) is None
    assert replays.text_of("c.swops") == replays.text_of(ops)
