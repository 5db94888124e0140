"""What --stats says of a job over several nodes."""

import re

from harness import programs


def test_calls_over_nodes_are_counted(host, tmp_path):
    program = host.compile(programs.source("between.c"))
    done = host.run(5, [program, tmp_path, "2"], run_args=["--stats"],
                    timeout=120, env={"STRAIGHTWAY_NODE_SIZE": "2"})
    programs.well(done)
    assert ("MPI_COMM_WORLD: 3 nodes of 1 to 2 ranks, 1 lane between them"
            in done.stderr)
    held = re.search(r"a rank holds (\d+) at most, and has held (\d+) "
                     r"\(STRAIGHTWAY_SPAN_MAX 64\)", done.stderr)
    assert held and 1 <= int(held[1]) <= int(held[2])
    assert re.search(r"Allgatherv +calls 5  ours 5 \(over nodes 5\)  host 0",
                     done.stderr)
    ours, calls = programs.accelerated(done)
    assert 0 < ours <= calls


def test_one_node_has_no_calls_over_nodes(host, tmp_path):
    program = host.compile(programs.source("between.c"))
    done = host.run(2, [program, tmp_path], run_args=["--stats"], timeout=120)
    programs.well(done)
    assert "over nodes" not in done.stderr and "lane" not in done.stderr
    assert re.search(r"Allgatherv +calls 2  ours 2  host 0", done.stderr)
