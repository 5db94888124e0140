"""`straightway where` of a job over several nodes, from a process on each.

The processes see no rank of another node (nodes/secluded). The launcher starts
them, and one report comes; or each writes a file, which another machine reads.
"""

import json
import shlex
import sys

import pytest
from harness import hosts, nodes

import hangs
import test_hangs

KIND = hangs.BY_ID["collectives-skipped_collective"]
SECLUDED = nodes.SCRIPT.parent / "secluded"
AGENT = nodes.SCRIPT.parent / "agent"
NODES = "node0", "node1"
ALONE = "Put all nodes together"
# In the words of sh: the job is $1 and what follows.
JOB = """
"$@" > job.txt 2>&1 &
job=$!
until [ "$(grep -c '^ready' job.txt)" -ge 4 ]; do
    kill -0 $job || { cat job.txt; exit 1; }
    sleep 0.1
done
look() { timeout 30 "$@" || { kill $job; exit 2; }; }
"""
# Just after its start the job may be on its way to where it hangs.
UNTIL_IT_HANGS = """
for turn in 1 2 3 4 5 6 7 8 9 10; do
    look {} > report.json
    grep -q '"hangs": true' report.json && break
    sleep 0.5
done
"""


def on_each(host, *words):
    """The command by which a user starts `straightway where` on all nodes."""
    one = ["--map-by", "node"] if host.flavour == "ompi" else ["-ppn", 1]
    return [host.mpirun, *host.launcher_args, *one, "-n", len(NODES),
            SECLUDED, hosts.COMMAND, "where", *words]


def text(words):
    return shlex.join(map(str, words))


def hanging(host, folder, *looks):
    """Start a job of two ranks on each node, and run lines of sh beside it."""
    nodes.need()
    lines = [JOB, *looks, "kill $job; wait $job"]
    done = host.start(
        [sys.executable, nodes.SCRIPT, "--ranks", "2,2", "--plain", "--",
         "sh", "-c", "\n".join(lines), "sh",
         *host.command_line(KIND.ranks, KIND.argv(host))],
        {"NO_COLOR": "1", "COLUMNS": None}, cwd=folder)
    assert done.returncode != 2, done.stdout + done.stderr
    return done


def assert_right(report):
    assert report["nodes"] == list(NODES)
    assert [(one["rank"], one["node"]) for one in report["ranks"]] == [
        (0, "node0"), (1, "node0"), (2, "node1"), (3, "node1")]
    assert not test_hangs.wrong(KIND, report), test_hangs.shown(report)
    assert not any(ALONE in hint for hint in report["hints"])


def test_a_launcher_of_the_command_gets_one_report(host, tmp_path):
    done = hanging(host, tmp_path,
                   UNTIL_IT_HANGS.format(text(on_each(host, "--json"))),
                   f"look {text(on_each(host))} > page.txt")
    said = done.stdout + done.stderr
    assert (tmp_path / "page.txt").exists(), said
    assert_right(json.loads((tmp_path / "report.json").read_text()))
    # Open MPI gives its processes a terminal of no columns.
    page = (tmp_path / "page.txt").read_text()
    assert page.count("2 nodes") == page.count("rank 3 has begun 1") == 1, page
    assert "not seen" not in page and "…" not in page, page
    assert not list(tmp_path.glob(".straightway*"))


@pytest.mark.deep
@pytest.mark.parametrize("by_launcher", [True, False])
def test_files_of_the_nodes_tell_the_same_elsewhere(host, run, by_launcher,
                                                    tmp_path):
    words = ["where", "--json", "--out", "where.%h.json"]
    starts = [on_each(host, *words[1:])] if by_launcher else [
        [AGENT, node, SECLUDED, hosts.COMMAND, *words] for node in NODES]
    done = hanging(host, tmp_path, "sleep 2", *(
        f"look {text(start)}" for start in starts))
    files = [tmp_path / f"where.{node}.json" for node in NODES]
    assert all(file.exists() for file in files), done.stdout + done.stderr
    for file, own in zip(files, NODES):
        part = json.loads(file.read_text())
        assert part["nodes"] == [own]
        assert ALONE in part["hints"][0]
    status, out, err = run("where", "--json", *files)
    assert status == 0, err
    assert_right(json.loads(out))
