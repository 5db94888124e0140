"""bench/heap.py: every way takes its turns, failures are named, the table.

Nothing is timed: what is counted is samples, ranks and pages.
"""

import json
import os
import sys

import heap
import job
import pytest
from harness import jobs
from harness.hosts import ROOT

SCRIPT = ROOT / "bench" / "heap.py"
not_by_prefix = pytest.mark.unable(
    lambda host: str(host.prefix) == "/usr" or host.name == "mpich-abi",
    why="bench/heap.py finds an MPI by its prefix")


def call(*arguments, env=None):
    return jobs.run(
        [sys.executable, SCRIPT, "--quick", *map(str, arguments)],
        os.environ if env is None else env, 240)


@not_by_prefix
@pytest.mark.deep
def test_every_program_runs_on_ranks(host, tmp_path):
    out = tmp_path / "h.json"
    programs = ["touch", "walk", "triad", "storm", "start", "static", "mg",
                "ft", "fft", "skew-b", "cg-p", "twelve", "fork", "use2"]
    done = call("--programs", ",".join(programs), "--mpi", host.prefix,
                "--ranks", 2, "--rounds", 1, "--json", out,
                env=host.environment())
    assert done.returncode == 0, done.stdout + done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    found = json.loads(out.read_text())
    assert found["schema"] == "straightway-bench-heap/1"
    assert found["machine"]["cpu"]
    assert sorted((s["program"], s["way"]) for s in found["samples"]) == \
        sorted((name, way) for name in programs for way in ("alone", "with"))
    for sample in found["samples"]:
        assert f"\n{sample['program']} 2 " in done.stdout
        assert [one["status"] for one in sample["each"]] == [0, 0]
        # `own` may round to nothing: a short program between two ticks.
        assert sample["wall"] > 0 and sample["own"] >= 0
        assert sample["faults"] > 200
        # Twelve arrays of three planes, which are all touched.
        assert sample["program"] != "twelve" or sample["rss"] > 12 * 3 / 8


def test_the_ways_take_turns(tmp_path):
    out = tmp_path / "h.json"
    done = call("--programs", "touch,triad", "--show", "eager,lazy",
                "--rounds", 4, "--json", out)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(out.read_text())
    assert found["ways"] == ["alone", "eager", "lazy"]
    orders = []
    for name in ("touch", "triad"):
        for number in range(4):
            orders.append([s["way"] for s in found["samples"] if
                           (s["program"], s["round"]) == (name, number)])
    assert all(sorted(order) == sorted(found["ways"]) for order in orders)
    assert len(set(map(tuple, orders))) > 1


def test_without_an_mpi_the_others_are_named(tmp_path):
    out = tmp_path / "h.json"
    done = call("--programs", "touch,mg,mlock", "--rounds", 1, "--json", out)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "mg: not run: it needs --mpi" in done.stdout
    assert "touch: [1] ranks only" in done.stdout
    samples = json.loads(out.read_text())["samples"]
    touched = [s for s in samples if s["program"] == "touch"]
    assert sorted(s["way"] for s in touched) == ["alone", "with"]
    # 0.02 of 512 MiB, and not the peak of the Python that started it.
    assert all(10 < s["rss"] < 40 for s in touched)


@pytest.mark.parametrize("arguments, words", [
    (["--programs", "touch,tuch"], "tuch is not among"),
    (["--show", "slowly"], "slowly is not among"),
    (["--thp", "sometimes"], "sometimes is not among"),
    (["--ranks", "0"], "numbers of ranks"),
    (["--rounds", "-1"], "above 0"),
    (["--size", "inf"], "above 0"),
    (["--mpi", "/nowhere"], "there is no /nowhere/bin/mpirun"),
    (["--programs", "mg"], "nothing was measured"),
])
def test_a_mistake_is_named(arguments, words):
    done = call(*arguments)
    assert done.returncode
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_job_that_fails_ends_it(tmp_path):
    log = tmp_path / "log"
    with pytest.raises(SystemExit, match="no such arena"):
        heap.measure(["sh", "-c", f"echo no such arena; echo 9 1 1 1 1 1 1 "
                      f">{log}; exit 9"], None, "touch", 1, tmp_path, log)
    log.unlink()
    with pytest.raises(heap.Refused, match="mlockall: no"):
        heap.measure(["sh", "-c", f"echo mlockall: no; echo 3 1 1 1 1 1 1 "
                      f">{log}; exit 3"], None, "mlock", 1, tmp_path, log)


def test_a_job_past_its_limit_is_ended(tmp_path):
    done = job.run(["sleep", "60"], None, tmp_path, limit=0.1)
    assert done.status < 0 and done.late


def test_huge_pages_are_put_back(tmp_path, monkeypatch):
    file = tmp_path / "enabled"
    file.write_text("always [madvise] never\n")
    monkeypatch.setattr(heap, "HUGE", tmp_path)
    with pytest.raises(KeyError):
        with heap.huge_pages("always") as why:
            assert why is None and file.read_text() == "always"
            raise KeyError
    assert file.read_text() == "madvise"
    file.unlink()
    monkeypatch.setattr(heap, "HUGE", tmp_path / "gone")
    with heap.huge_pages("always") as why:
        assert why


def sample(number, way, **figures):
    return {"round": number, "way": way, **figures}


def test_ratios_are_those_of_a_round():
    samples = [sample(n, "alone", wall=wall) for n, wall in
               enumerate([1, 2, 4])]
    samples += [sample(n, "lazy", wall=wall) for n, wall in
                enumerate([2, 2, 2])]
    assert heap.compared(samples, "wall", "s", "lazy") == {
        "median": 1, "low": 0.75, "high": 1.5}
    # A figure in MB is told as what there is more.
    assert heap.compared(samples, "wall", "MB", "lazy")["median"] == 0
    samples[0]["wall"] = 0
    assert heap.compared(samples, "wall", "s", "lazy") is None


@pytest.mark.parametrize("value, sign, text", [
    (1.0049, "", "1.005"), (12.34, "", "12.3"), (1234.5, "", "1234"),
    (0.04, "+", "+0.0"), (-3.21, "+", "-3.2"), (2145.06, "+", "+2145"),
    (1e9, "", "1e+09")])
def test_figures_stay_in_their_columns(value, sign, text):
    assert heap.short(value, sign) == text


def test_more_ways_than_fit_stand_below(capsys):
    keys = {key: 1.0 for key, *_ in heap.MEASURES} | {"own": 1.0}
    ways = ["eager", "lazy", "off"]
    heap.show("touch", 2, [sample(0, way, **keys)
                           for way in ["alone", *ways]], ways, False)
    lines = capsys.readouterr().out.splitlines()
    heads = [line.split() for line in lines if line.startswith("program")]
    assert [head[2::2] for head in heads] == [["eager", "lazy"], ["off"]]
    assert len(lines) == 2 * (1 + len(heap.MEASURES) + 1)
    assert max(map(len, lines)) <= 80
