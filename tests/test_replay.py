"""Operations of real traces, replayed: nothing is lost on the way, and no
rank waits for what has happened.

The programs do all that MPI can at random. A replay must end, with the
messages and bytes that the profile of the same run has counted, whatever the
model; and it ends alike however often it is done.
"""

import json
import subprocess

import pytest

import programs
import traces
from harness.hosts import COMMAND
from straightway import capture, operations, profile

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
    return subprocess.run([WHATIF, *map(str, words)], text=True,
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
                 id="collectives")])
def test_random_programs_replay(host, name, n, arguments, words, tmp_path):
    found = traced(host, n, name, arguments, words, tmp_path)
    made = operations.from_trace(found, tmp_path / "a.swops")
    assert made.figures["calls"] == sum(
        rank.trace.events for rank in found.ranks)
    assert made.figures["damaged"] == 0
    messages, size = moved(found)
    ends = set()
    for model in MODELS:
        for _ in range(2):
            result = replay(made.path, model, n, tmp_path)
            assert result["state"] == "done"
            assert result["damaged"] == 0
            assert result["operations"] == made.figures["operations"]
            assert (result["messages"], result["bytes"]) == (messages, size)
            ends.add(result["end_ns"])
    assert len(ends) > 1
