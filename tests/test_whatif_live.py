"""Programs that run in virtual time: as they are, and as long as the model says.

Random programs must get the bytes and statuses that the host gives. Programs
whose time is known by hand must be told just that by MPI_Wtime.
"""

import json
import re
import subprocess
import time

import pytest

import programs
from harness.hosts import COMMAND

# Per message of s bytes: o 1 us, L 5 us, G 0.5 ns a byte, o' 2 us. A processor
# so quick that computing takes no time.
MODEL = """\
# LogGPS, by hand
ranks {n}
link node o_send 1000 o_recv 2000 L 5000 g 0 G 0.5 S {eager}
link domain o_send 1000 o_recv 2000 L 5000 g 0 G 0.5 S {eager}
link self o_send 1000 o_recv 2000 L 5000 g 0 G 0.5 S {eager}
cpu_speed {speed}
test 100
{more}
"""


def virtual(host, n, argv, folder, eager=65536, speed="1e9", more="",
            env=None, timeout=120, **keywords):
    """Run in virtual time; (process, result or None)."""
    model, result = folder / "run.model", folder / "result.json"
    model.write_text(MODEL.format(n=n, eager=eager, speed=speed, more=more))
    if not isinstance(argv, list):
        argv = [argv]
    done = host.run(n, argv, timeout=timeout, env={
        "STRAIGHTWAY_WHATIF": str(model),
        "STRAIGHTWAY_WHATIF_RESULT": str(result),
        "STRAIGHTWAY_WHATIF_CHECK": "on",
        "STRAIGHTWAY_ENABLE": "off", **(env or {})}, **keywords)
    return done, json.loads(result.read_text()) if result.exists() else None


# Correctness -----------------------------------------------------------------

RANDOM = {
    "random_collectives": ("calls right", (11, 60), {}),
    "random_neighbours": ("right", (11, 30), {}),
    "random_p2p": ("messages right", (11, 30), {}),
    "random_types": ("datatypes right", (11, 15),
                     {"MPIR_CVAR_CH4_CMA_ENABLE": "0"}),
}


@pytest.mark.parametrize("name, n, options", [
    pytest.param("random_collectives", 3, (), id="collectives"),
    pytest.param("random_p2p", 2, (), id="messages-2"),
    pytest.param("random_p2p", 3, (), id="messages"),
    pytest.param("random_p2p", 2, ("--threads", 3), id="threads"),
    pytest.param("random_types", 2, (), id="types")])
@pytest.mark.parametrize("enable", ["off", "on"])
def test_random_programs(host, name, n, options, enable, tmp_path):
    """Programs in virtual time get the bytes and statuses of the host."""
    words, (seed, rounds), env = RANDOM[name]
    arguments = [seed, programs.rounds_for(host, n, rounds), *options]
    kept = programs.kept_alone(host, n, name, arguments, words,
                               excused=["no MPI_THREAD"], env=env)
    program = host.compile(programs.MPI / f"{name}.c", "-lm", "-lpthread",
                           "-ldl")
    done, result = virtual(
        host, n, [program, *arguments, "--log", tmp_path / "log"], tmp_path,
        env={**env, **programs.AT_ONCE, "STRAIGHTWAY_ENABLE": enable})
    programs.well(done, words)
    programs.same_logs(kept, tmp_path, n)
    assert result["state"] == "done", result
    assert result["messages"] > 10 or name == "random_collectives"
