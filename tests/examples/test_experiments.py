"""examples/kernels/experiments.py with a stand-in of `straightway whatif`, of
which every number is known."""

import json
import os
import pathlib
import re
import sys
from xml.etree import ElementTree

import jsonschema
import pytest
from harness import patience
from harness.hosts import ROOT

import straightway

FOLDER = ROOT / "examples" / "kernels"
SCHEMA = pathlib.Path(straightway.__file__).parent / "schemas" / \
    "whatif.schema.json"

# The stand-in reads (normal, simulated, free) of a kernel from a file beside
# it. It writes the report, and prints what the kernel would in each run.
STANDIN = '''#!{python}
import json, os, pathlib, sys
words = sys.argv[1:]
here = pathlib.Path(__file__).parent
program, arguments = words[words.index("--") + 1], words[words.index("--")+2:]
name = os.path.basename(program)
assert os.path.exists(program), program
with open(here / "asked", "a") as asked:
    asked.write(json.dumps([name, words]) + "\\n")
plan = json.loads((here / "plan.json").read_text())
normal, simulated, free = plan.get(name, [1.0, 1.0, 1.0])
ranks = int(words[words.index("-n") + 1])
def outcome(time, **more):
    return dict(time_s=time, ranks=ranks, operations=9, messages=4, bytes=8,
                share={{"compute": 0.5, "messages": 0.1,
                        "collectives": 0.4}}, collectives={{}}, wildcards=0,
                undecided=0, disordered=0, extrapolated=False, damaged=0,
                notes=[], sections=[],
                **more)
def experiment(time, title):
    return outcome(time, title=title, experiment="free=" + title, by="replay",
                   ratio=simulated / time if time else None)
frees = [words[i + 1] for i, w in enumerate(words) if w == "--free"]
report = dict(
    schema="straightway-whatif/1", machine={{"cpu": "A processor"}},
    program=[program, *arguments], replay=None, mpi="An MPI 1.0",
    models=["measured"], model_about=[], ranks=ranks,
    baseline=outcome(simulated), rank_times=[], not_measured=None,
    measured=normal and dict(median_s=normal, low_s=normal, high_s=normal,
                             samples_s=[normal], runs=1),
    error=normal and simulated / normal - 1,
    experiments=[experiment(simulated / 2, f + " free") for f in frees] + [
        experiment(8.0 if "free=all" not in words[i + 1] else 2.0,
                   words[i + 1].partition(":")[0])
        for i, w in enumerate(words) if w == "--experiment"],
    bounds=dict(collectives=experiment(free, "collectives"),
                communication=experiment(free, "communication")),
    sweep=None, notes=[], seconds=0.1)
pathlib.Path(words[words.index("--json") + 1]).write_text(json.dumps(report))
verdict = plan.get("verdict", "VERIFIED")
for seconds in [simulated] + [normal] * (3 if normal else 0):
    if name == "micro":
        for operation in "alltoall", "bcast":
            for size in 8, 2048:
                us = seconds if size == 8 else 3.0
                print(f"micro: 2 ranks, {{operation}} {{size}} bytes, "
                      f"{{us:.4f}} us (0.1 to 9.9), 20 calls, {{verdict}}")
    else:
        print(f"{{name}}: 2 ranks, 8^3 points, {{seconds:.6f}} s, {{verdict}}"
              f"\\n{{name}}: 4 iterations of 9.000 us, communication 0.1 s, "
              "result 1")
'''
PLAN = {"ft": [2.0, 2.02, 1.818], "is": [1.0, 0.98, 0.882],
        "mg": [1.0, 1.0, 0.99], "cg": [1.0, 1.05, 1.0],
        "alltoall": [3.0, 3.0, 0.003], "planewave": [4.0, 4.0, 2.0],
        "micro": [2.0, 2.3, 0.1]}


@pytest.fixture
def conduct(tmp_path):
    """conduct(words..., plan) -> the finished process"""
    def put(path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    command = put(tmp_path / "straightway",
                  STANDIN.format(python=sys.executable))
    put(tmp_path / "mpi" / "bin" / "mpicc", "#!/bin/sh\n"
        'while [ "$1" != -o ]; do shift; done\n: > "$2"\n')

    def call(*words, plan=PLAN):
        (tmp_path / "plan.json").write_text(json.dumps(plan))
        return patience.run(
            [sys.executable, FOLDER / "experiments.py", "--mpi",
             tmp_path / "mpi", *map(str, words)],
            env=dict(os.environ, STRAIGHTWAY_COMMAND=str(command)),
            text=True, capture_output=True, timeout=120)
    return call


def asked(tmp_path):
    return [json.loads(line) for line in
            (tmp_path / "asked").read_text().splitlines()]


def rows(text):
    return [re.split(r"\s{2,}", line.strip()) for line in text.splitlines()]


def test_tables_say_what_the_runs_took(conduct):
    done = conduct("--micro")
    assert done.returncode == 0, done.stderr
    found = rows(done.stdout)
    assert ["ft", "NAS kind", "2.000 s", "2.020 s", "1.818 s", "1.11 ×",
            "10.0 %"] in found
    assert ["alltoall", "Alltoall loop", "3.000 s", "3.000 s", "0.003 s",
            "1000 ×", "99.9 %"] in found
    assert ["planewave", "alltoall free", "2.00 ×"] in found
    assert ["ft", "2.000 s", "+1.0 %", "2.000 s", "+1.0 %"] in found
    assert ["8 B", "2.00 us", "2.30 us", "+15.0 %", "2.00 us", "2.30 us",
            "+15.0 %"] in found
    assert ["2 KiB", "3.00 us", "3.00 us", "+0.0 %", "3.00 us", "3.00 us",
            "+0.0 %"] in found
    for sentence in ("NAS kind: collectives are 1.0 % to 10.0 % of the time.",
                     "plane waves: collectives are 50.0 % of the time.",
                     "Error of whole runs: median 0.5 %, worst 5.0 %.",
                     "2 of 4 are farther off than 10.0 %."):
        assert sentence in done.stdout


def test_what_is_asked_of_the_command(conduct, tmp_path):
    assert conduct("-n", 4, "--runs", 2, "--model", "hockney", "--quick",
                   "--only", "planewave").returncode == 0
    (name, words), = asked(tmp_path)
    assert name == "planewave" and words[0] == "whatif"
    text = " ".join(words)
    for part in ("-n 4", "--runs 2", "--show-output", "--model hockney",
                 "--free alltoall --free allreduce", "planewave 16 8 300",
                 f"--mpi {tmp_path / 'mpi'}"):
        assert part in text


def test_the_standin_speaks_as_the_command_does(conduct, tmp_path):
    if not SCHEMA.exists():
        pytest.skip("straightway whatif has no schema here")
    conduct("--only", "ft", "--out", tmp_path / "out")
    report = json.loads((tmp_path / "out" / "experiments.json").read_text())
    jsonschema.validate(report["kernels"][0]["whatif"],
                        json.loads(SCHEMA.read_text()))


def test_files_and_the_same_again_from_what_is_saved(conduct, tmp_path):
    out, again = tmp_path / "out", tmp_path / "again"
    first = conduct("--micro", "--out", out)
    second = conduct("--from", out / "experiments.json", "--out", again)
    assert first.returncode == second.returncode == 0, second.stderr
    assert first.stdout == second.stdout
    assert len(asked(tmp_path)) == 7            # none by the second
    for name in "experiments.md", "experiments.json", "gains.svg", \
            "micro.svg":
        assert (out / name).read_text() == (again / name).read_text()
    text = (out / "experiments.md").read_text()
    assert "| ft | NAS kind | 2.000 s | 2.020 s |" in text
    assert "(gains.svg)" in text and "(micro.svg)" in text


def test_bars_are_as_long_as_the_times(conduct, tmp_path):
    conduct("--only", "planewave,alltoall", "--micro", "--out", tmp_path)
    svg = "{http://www.w3.org/2000/svg}"
    for name in "gains.svg", "micro.svg":
        root = ElementTree.parse(tmp_path / name).getroot()
        width, height = (float(root.get(k)) for k in ("width", "height"))
        for one in root.iter(f"{svg}rect"):
            assert 0 <= float(one.get("x"))
            assert float(one.get("x")) + float(one.get("width")) <= width
            assert float(one.get("y")) + float(one.get("height")) <= height
    points = [(float(c.get("cx")), float(c.get("cy")))
              for c in root.iter(f"{svg}circle")]     # alltoall, bcast
    assert len(points) == 4 and points[:2] == points[2:]
    assert points[0][0] < points[1][0] and points[0][1] < points[1][1]
    root = ElementTree.parse(tmp_path / "gains.svg").getroot()
    bars = [float(r.get("width")) for r in root.iter(f"{svg}rect")
            if float(r.get("x")) == 150][-6:]
    normal, simulated, free, loop, _, none = bars
    assert simulated == normal == loop and free == pytest.approx(normal / 2)
    assert none == pytest.approx(normal / 1000, abs=0.1)


def test_a_network_that_is_not_here(conduct, tmp_path):
    done = conduct("--only", "ft,planewave", "--network", "qdr", "-n", 16)
    assert done.returncode == 0, done.stderr
    text = " ".join(asked(tmp_path)[0][1])
    for part in ("there: network=qdr nodes=16 ranks-per-node=1 --experiment",
                 "network=qdr nodes=16 ranks-per-node=1 free=all --"):
        assert part in text
    here, there = done.stdout.split("On qdr, one rank on each node")
    assert ["planewave", "plane waves", "8.000 s", "2.000 s", "4.00 ×",
            "75.0 %"] in rows(there)
    assert "plane waves: collectives are 75.0 % of the time." in there
    assert "there" not in here and "free" in here


def test_without_normal_runs(conduct):
    plan = {name: [None, *times[1:]] for name, times in PLAN.items()}
    done = conduct("--only", "ft,alltoall", plan=plan)
    assert done.returncode == 0, done.stderr
    assert ["ft", "NAS kind", "-", "2.020 s", "1.818 s", "1.11 ×",
            "10.0 %"] in rows(done.stdout)
    assert "No normal run to hold whole runs against" in done.stdout
    assert "own clock" not in done.stdout


def test_nothing_left_is_said(conduct):
    done = conduct("--only", "alltoall", plan={"alltoall": [1.0, 1.0, 0.0]})
    assert done.returncode == 0, done.stderr
    assert "no time left" in done.stdout and "100.0 %" in done.stdout


def test_wrong_results_fail(conduct):
    done = conduct("--only", "ft,mg", plan=dict(PLAN, verdict="NOT VERIFIED"))
    assert done.returncode == 1
    assert "NOT VERIFIED: ft, mg" in done.stderr


@pytest.mark.parametrize("words, said", [
    (["--only", "lu"], "there are ft, is"), (["-n", 3], "power of two"),
    (["--mpi", "/nowhere"], "no mpicc in /nowhere/bin"),
    (["--from", "/nowhere/x.json"], "No such file"),
    (["--runs", 0], "at least 1")])
def test_says_what_is_wrong(conduct, words, said):
    done = conduct(*words)
    assert done.returncode and said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("text, said", [
    ("{", "no JSON"), ("[]", "no straightway-experiments"),
    ('{"schema": "x"}', "no straightway-experiments")])
def test_a_broken_file_is_told(conduct, tmp_path, text, said):
    path = tmp_path / "broken.json"
    path.write_text(text)
    done = conduct("--from", path)
    assert done.returncode == 1 and said in done.stderr


def test_a_failing_command_is_shown(conduct, tmp_path):
    (tmp_path / "straightway").write_text(
        "#!/bin/sh\necho no such model >&2\nexit 2\n")
    done = conduct("--only", "ft")
    assert done.returncode == 1
    assert "exit status 2" in done.stderr and "no such model" in done.stderr
    assert "Traceback" not in done.stderr
