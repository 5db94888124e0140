"""Operations of real traces, replayed: a replay loses nothing, and no rank
waits for what has happened.

The programs use all of MPI at random. A replay must end, whatever the model,
with the messages and bytes that the profile of the same run has counted. Every
repetition ends in the same way.
"""

import json

import pytest
from harness import captures, patience, programs, traces
from harness.hosts import COMMAND
from straightway import capture, profile
from straightway.errors import UserError
from straightway.whatif import operations

WHATIF = COMMAND.parents[1] / "lib" / "straightway" / "straightway-whatif"
QUIET = {"STRAIGHTWAY_PROFILE_REPORT": "off", "STRAIGHTWAY_PROFILE": "on",
         "STRAIGHTWAY_TRACE": "on", "STRAIGHTWAY_ENABLE": "off"}
MODELS = {
    "free": "ranks {n}\nfree all\n",
    "eager": "ranks {n}\nlink node o_send 1000 o_recv 1000 L 5000 g 100 "
             "G 0.1\n",
    "rendezvous": "ranks {n}\nplace 1 1\nlink network o_send 500 o_recv 500 "
                  "L 2000 G 0.5 S 64\n",
}


def whatif(*words, **keywords):
    return patience.run([WHATIF, *map(str, words)], text=True,
                        capture_output=True, timeout=120, **keywords)


def replay(ops, model, n, folder, check=True):
    path = folder / "a.model"
    path.write_text(MODELS[model].format(n=n))
    done = whatif("replay", *(["--check"] if check else []), path, ops)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def traced(host, n, name, arguments, words, folder, env=None):
    programs.kept_alone(host, n, name, arguments, words,
                        excused=["no MPI_THREAD"], env=env)
    programs.well(programs.run(host, n, name, *arguments, env={
        **(env or {}), **QUIET,
        "STRAIGHTWAY_PROFILE_OUTPUT": str(folder)}), words)
    path, = folder.glob("*.swcap")
    return capture.read(path)


def moved(found):
    """(messages, bytes) that the profile has counted as sent."""
    total = [0, 0]
    for rank in found.ranks:
        t = rank.table("peers")
        for i in range(len(t)):
            if t["kind"][i] == 0:
                total[0] += t["sent_messages"][i]
                total[1] += t["sent_bytes"][i]
    return tuple(total)


@pytest.mark.parametrize("name, n, arguments, words", [
    pytest.param("random_p2p", 3, (11, 25), "messages right", id="messages"),
    pytest.param("random_p2p", 2, (5, 10, "--threads", 3), "messages right",
                 id="threads"),
    pytest.param("random_collectives", 3, (5, 40), "calls right",
                 id="collectives"),
    pytest.param("random_groups", 5, (5, 10), "calls right", id="groups")])
def test_random_programs_replay(host, name, n, arguments, words, tmp_path):
    found = traced(host, n, name, arguments, words, tmp_path)
    made = operations.from_trace(found, tmp_path / "a.swops")
    assert made.figures["calls"] == sum(
        rank.trace.events for rank in found.ranks)
    assert made.figures["damaged"] == 0
    messages, size = moved(found)
    ends = set()
    # Which request MPI_Waitany has found is kept. In a rendezvous another may
    # have to come first.
    models = set(MODELS) - ({"rendezvous"} if name == "random_p2p" else set())
    for model in sorted(models):
        for _ in range(2):
            result = replay(made.path, model, n, tmp_path)
            assert result["state"] == "done"
            assert result["damaged"] == 0
            assert result["operations"] == made.figures["operations"]
            assert (result["messages"], result["bytes"]) == (messages, size)
            ends.add(result["end_ns"])
    assert len(ends) > 1


# Without an MPI -------------------------------------------------------------

@pytest.fixture
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def text_of(ops):
    """{rank: [line]} of a file of operations."""
    found, lines = {}, []
    for line in whatif("convert", ops, "-").stdout.splitlines():
        if line.startswith("rank "):
            lines = found[int(line[5:])] = []
        elif not line.startswith("#"):
            lines.append(line.strip())
    return found


def test_a_trace_becomes_its_operations(_here, tmp_path):
    made = traces.ring(4, 50)
    found = capture.read(made.write("a.swtrace"))
    done = operations.from_trace(profile.Profile(found), "a.swops")
    assert done.figures["calls"] == 4 * 4 * 50 and not done.notes
    ops = text_of("a.swops")
    one = [[line for line in ops[rank] if not line.startswith("compute")]
           for rank in range(4)]
    for rank in range(4):
        left, right = (rank - 1) % 4, (rank + 1) % 4
        assert one[rank] == [
            f"send 800 to {right} tag 5 request 1",
            f"receive 800 from {left} tag 5", "wait request 1",
            "allreduce 8 sent 8 received 8"] * 50
    result = replay("a.swops", "eager", 4, tmp_path)
    assert (result["messages"], result["bytes"]) == (200, 160000)
    assert result["collectives"]["allreduce"]["calls"] == 200
    assert not result["extrapolated"] and result["notes"] == ["from a trace"]


def test_wildcards_cancels_and_polls(_here):
    job = captures.Job(2)
    trace = traces.Trace(job)
    t = traces
    world = job.ranks[1].world
    irecv = trace.call(1, "MPI_Irecv", communicator=world)
    test = trace.call(1, "MPI_Test")
    waitany = trace.call(1, "MPI_Waitany")
    send = trace.call(0, "MPI_Ssend", communicator=job.ranks[0].world)
    write = trace.call(1, "MPI_File_write")
    isend = trace.call(1, "MPI_Isend", communicator=world)
    trace.event(1, irecv, 300, notes=[t.posts(-1, -1), t.starts(1)])
    trace.event(1, irecv, 300, notes=[t.posts(0, 8, 1), t.starts(2)])
    trace.event(1, test, 9000, 50)
    for _ in range(20):
        trace.event(1, test, 30, 50)
    trace.event(1, test, 30, 50, [t.came(1, 0, 7, 1, 24)])
    trace.event(1, waitany, 3000, 50, [t.ends(2)])
    trace.event(1, write, 300, 6000)
    trace.event(1, isend, 0, 30, [t.amount(5, 5, 0), t.sends(0, 9, 1),
                                  t.starts(3)])
    trace.event(1, waitany, 3000, 50, [t.ends(3)])
    trace.event(0, send, 300, 900, [t.amount(24, 24, 0), t.sends(1, 7, 1)])
    trace.write("a.swtrace")
    done = operations.from_trace(capture.read("a.swtrace"), "a.swops")
    assert done.figures["polls"] == 21
    ops = text_of("a.swops")
    calls = [[line for line in ops[rank] if not line.startswith("compute")]
             for rank in (0, 1)]
    assert calls[0] == ["send 24 to 1 tag 7 synchronous"]
    assert calls[1] == ["receive 0 from 0 tag 7 request 1", "wait request 1",
                        "send 5 to 0 tag 9 buffered request 1",
                        "drop request 1"]


def test_deadlock_is_told(_here, tmp_path):
    (tmp_path / "a.goal").write_text(
        "num_ranks 3\nrank 0 {\nrecv 1b from 1 tag 4\n}\n"
        "rank 1 {\na: recv 1b from 0 tag 4\nb: send 1b to 0 tag 4\n"
        "b requires a\n}\nrank 2 {\ncalc 5\n}\n")
    operations.convert("a.goal", "a.swops")
    (tmp_path / "a.model").write_text("ranks 3\n")
    done = whatif("replay", "a.model", "a.model", "--", "a.swops")
    assert done.returncode == 3
    assert "deadlock" in done.stderr and "rank 0: " in done.stderr
    first, second = json.loads(done.stdout)["results"]
    assert first["state"] == second["state"] == "deadlock"
    assert [one["rank"] for one in first["stuck"]] == [0, 1]
    assert first["stuck_ranks"] == 2
    assert "from 1, tag 4" in first["stuck"][0]["waits_for"]


def test_what_cannot_be_read_is_told(_here, tmp_path):
    operations.synthetic("halo2d", 4, 5, 100, 10, "a.swops")
    (tmp_path / "a.model").write_text("ranks 5\n")
    (tmp_path / "b.model").write_text("ranks 4\nfly 3\n")
    (tmp_path / "c.model").write_text("ranks 4\n")
    raw = (tmp_path / "a.swops").read_bytes()
    (tmp_path / "cut.swops").write_bytes(raw[:-9])
    (tmp_path / "bad.swops").write_bytes(
        raw[:20] + bytes([raw[20] ^ 1]) + raw[21:])
    for words, said in (
            (("a.model", "a.swops"), "say `ranks 4`"),
            (("b.model", "a.swops"), "2"), (("c.model", "a.model"), "no file"),
            (("c.model", "cut.swops"), "cut short"),
            (("c.model", "no.swops"), "No such file")):
        done = whatif("replay", *words)
        assert done.returncode == 1 and said in done.stderr, done
    done = whatif("replay", "c.model", "bad.swops")
    assert json.loads(done.stdout)["damaged"] == 1
    assert done.returncode == 3     # the others wait for the rank that ends
    for words in ((), ("a.model",), ("--", "a.swops")):
        assert whatif("replay", *words).returncode == 2
    with pytest.raises(UserError, match="cannot be extrapolated"):
        operations.synthetic("pingpong", 4, 5, 100, 10, "b.swops")
        operations.extrapolate("b.swops", 8, "c.swops")
    with pytest.raises(UserError, match="there is no pattern"):
        operations.synthetic("spiral", 4, 5, 100, 10, "b.swops")


def test_the_command_converts_and_replays_alike(_here, tmp_path):
    operations.synthetic("halo2d", 16, 5, 100, 10, "a.swops")

    def convert(*words):
        return patience.run([COMMAND, "whatif", "convert", *words],
                            text=True, capture_output=True, timeout=60)

    for source, out in (("a.swops", "a.goal"), ("a.goal", "b.swops"),
                        ("a.swops", "c.swops")):
        done = convert(source, out)
        assert done.returncode == 0, done.stderr
        assert f"wrote {out}" in done.stderr
    direct = replay("a.swops", "eager", 16, tmp_path)
    for made in ("b.swops", "c.swops"):
        assert replay(made, "eager", 16, tmp_path)["messages"] \
            == direct["messages"] == 16 * 5 * 4
    done = convert("-n", "64", "a.swops", "d.swops")
    assert done.returncode == 0, done.stderr
    assert replay("d.swops", "eager", 64, tmp_path)["extrapolated"]
    for words, told in ((("a.swops", "a.swops"), "is the file to read"),
                        (("no.swops", "b.goal"), "there is no such file"),
                        (("-n", "2", "a.swops", "b.swops"), "has 16 ranks")):
        done = convert(*words)
        assert done.returncode == 2 and told in done.stderr, done.stderr


def test_extrapolation_is_marked(_here, tmp_path):
    operations.synthetic("halo2d", 16, 5, 100, 10, "a.swops")
    operations.extrapolate("a.swops", 64, "b.swops")
    result = replay("b.swops", "eager", 64, tmp_path)
    assert result["extrapolated"] and result["messages"] == 64 * 5 * 4
    assert result["notes"][0].startswith("extrapolated from 16 ranks to 64")


def test_blocking_collectives_are_completed_later(_here, tmp_path):
    """Ten times 400 ns of a reduction and 1 us of computing: the reductions
    go on while the ranks compute. Where they go on in calls only, none does."""
    operations.synthetic("allreduce", 2, 10, 8, 1000, "a.swops")
    times = []
    for more in ("", "later allreduce\n", "later all\n", "later bcast\n",
                 "later all\nstarted allreduce 8 0.25 0.5 0.25 0 0\n"):
        (tmp_path / "a.model").write_text(
            "ranks 2\ntable allreduce 2 8 400 400\nmeasured allreduce\n"
            + more)
        done = whatif("replay", "--check", "a.model", "a.swops")
        assert done.returncode == 0, done.stderr
        times.append(json.loads(done.stdout)["end_ns"])
    assert times == [14000, 10000, 10000, 14000, 14000]


# LogGOPSim's patterns under its rule: what it says itself.

def command(*words):
    done = patience.run([COMMAND, "whatif", *map(str, words)], text=True,
                        capture_output=True, timeout=60)
    return done, done.stdout + done.stderr


def predicted(source, *words):
    done, said = command("replay", source, *words, "--json", "a.json")
    assert done.returncode == 0, said
    with open("a.json", encoding="utf-8") as file:
        return round(json.load(file)["baseline"]["time_s"] * 1e9)


def loggopsim_all_to_all(n, size):
    return "".join(
        f"rank {i} {{\n" + "".join(
            f"send {size}b to {(i + k) % n}\nrecv {size}b from {(i - k) % n}\n"
            for k in range(1, n)) + "}\n" for i in range(n))


def loggopsim_barrier(n):
    root = "".join(f"i{i}: recv 1b from {i}\n" for i in range(1, n)) + "".join(
        f"o{i}: send 1b to {i}\n" + "".join(f"o{i} requires i{k}\n"
                                           for k in range(1, n))
        for i in range(1, n))
    return f"rank 0 {{\n{root}}}\n" + "".join(
        f"rank {i} {{\na: send 1b to 0\nb: recv 1b from 0\n}}\n"
        for i in range(1, n))


def loggopsim_star(n, size, gathers):
    give, take = ("recv", "send") if gathers else ("send", "recv")
    ways = {"send": "to", "recv": "from"}
    return "rank 0 {\n" + "".join(
        f"{give} {size}b {ways[give]} {i}\n" for i in range(1, n)) + "}\n" + \
        "".join(f"rank {i} {{\n{take} {size}b {ways[take]} 0\n}}\n"
                for i in range(1, n))


@pytest.mark.parametrize("text, n, ns", [
    (loggopsim_all_to_all(8, 1024), 8, 81466),
    (loggopsim_all_to_all(8, 200000), 8, 8438458),
    (loggopsim_barrier(8), 8, 29000),
    (loggopsim_barrier(13), 13, 44000),
    (loggopsim_star(8, 1024, False), 8, 54466),
    (loggopsim_star(13, 200000, False), 13, 14416428),
    (loggopsim_star(8, 1, True), 8, 14500),
    (loggopsim_star(13, 1024, True), 13, 95656)])
def test_loggopsims_patterns_take_its_times(_here, tmp_path, text, n, ns):
    (tmp_path / "a.goal").write_text(f"num_ranks {n}\n{text}")
    assert predicted("a.goal", "--model", "loggps") == ns


def test_gpus_are_processors_of_their_rank(_here, tmp_path):
    """Of a rank's two, one computes while the other receives; both wait for the
    same message."""
    (tmp_path / "a.goal").write_text(
        "num_ranks 2\nrank 0 {\na: calc 5000\nb: calc 4000 cpu 1\n"
        "c: recv 1b from 1 cpu 1\nd: calc 100\nd requires c\n"
        "e: calc 200 cpu 1\ne requires c\n}\nrank 1 {\nsend 1b to 0\n}\n")
    (tmp_path / "a.toml").write_text("[link.all]\nL = 1000\no_recv = 50\n")
    assert predicted("a.goal", "--model", "./a.toml") == 5100
    done, said = command("convert", "a.goal", "a.smpi")
    assert done.returncode and "several processors" in said
    done, said = command("convert", "a.goal", "b.goal")
    assert done.returncode == 0, said
    assert predicted("b.goal", "--model", "./a.toml") == 5100


def test_options_for_other_tools_files(_here, tmp_path):
    """What errors name is there."""
    (tmp_path / "a.goal").write_text(
        "num_ranks 2\nrank 0 {\na: recv 1b from 1 tag 1\n"
        "b: recv 1b from 1 tag 2\nc: calc 10\nc requires a\n"
        "d: calc 20\nd requires b\n}\n"
        "rank 1 {\nx: send 1b to 0 tag 2\ny: send 1b to 0 tag 1\n"
        "y requires x\n}\n")
    done, said = command("convert", "a.goal", "a.smpi")
    assert done.returncode and "--file-order" in said
    done, said = command("convert", "a.goal", "a.smpi", "--file-order")
    assert done.returncode == 0, said
    (tmp_path / "a.trace").write_text("0 init\n0 compute 1e29\n0 finalize\n")
    done, said = command("replay", "a.trace", "--model", "hockney")
    assert done.returncode and "--flops" in said
    (tmp_path / "a.trace").write_text("0 init\n0 compute 1e9\n0 finalize\n")
    assert predicted("a.trace", "--model", "hockney", "--flops", "4e9") == 25e7
    done, said = command("replay", "a.trace", "--flops", "fast")
    assert done.returncode == 2 and "give flop/s, as in 2.5e9" in said
    (tmp_path / "rank0").write_text("0 init\n0 send 1 0 8\n0 finalize\n")
    done, said = command("replay", "rank0", "--model", "hockney")
    assert "rank 1 is not in this file: give the list" in said


def test_hosts_of_different_speeds(_here, tmp_path):
    (tmp_path / "a.trace").write_text("".join(
        f"{i} init\n{i} compute 1e6\n{i} finalize\n" for i in range(2)))
    (tmp_path / "a.toml").write_text(
        "ranks_per_node = 1\nnode_speeds = [1, 0.25]\ncpu_speed = 2\n"
        "[link.all]\nL = 1\n")
    assert predicted("a.trace", "--model", "./a.toml") == 2e6
