"""The loops of the benchmarks that everybody runs, with their data checked:
windows of 64 messages, as in osu_bw, osu_bibw and osu_mbw_mr, and Intel's own
programs, where a host brings them."""

import pytest
from harness import hosts
from harness.programs import run, well


@pytest.mark.parametrize("how", ["one", "both", "persistent"])
def test_messages_into_one_buffer(host, how):
    well(run(host, 2, "bandwidth", how, 1, 1 << 18, 10))


@pytest.mark.parametrize("how", ["many", "latency"])
def test_messages_into_buffers_of_their_own(host, how):
    well(run(host, 2, "bandwidth", how, 1, 1 << 18, 5))


@pytest.mark.parametrize("how", ["one", "both", "persistent", "bipersistent"])
def test_large_messages_into_one_buffer(host, how):
    well(run(host, 2, "bandwidth", how, 4096, 1 << 20, 2))


@pytest.mark.parametrize("how, windows", [("many", 64), ("one", 200),
                                          ("both", 16)])
def test_several_pairs(host, how, windows):
    well(run(host, 4, "bandwidth", how, 8, 1 << 15, 2, windows))


@pytest.mark.deep
@pytest.mark.parametrize("how, n", [("one", 2), ("both", 2), ("persistent", 2),
                                    ("bipersistent", 2), ("one", 4),
                                    ("both", 4)])
def test_messages_into_one_buffer_for_long(host, how, n):
    well(run(host, n, "bandwidth", how, 1, 1 << 20, 30, timeout=600))


@pytest.mark.deep
@pytest.mark.parametrize("how", ["many", "latency"])
def test_messages_into_buffers_of_their_own_for_long(host, how):
    well(run(host, 2, "bandwidth", how, 1, 1 << 20, 50, timeout=600))


def intel(name):
    """A program of Intel's benchmarks, which come with its MPI."""
    path = hosts.HOSTS_DIR / "impi" / "bin" / name
    if not path.exists():
        pytest.skip("no Intel MPI here, and its benchmarks with it")
    return path


@pytest.mark.deep
@pytest.mark.unable(lambda host: host.library.name != "libmpi.so.12",
                    why="Intel's benchmarks are built for libmpi.so.12")
@pytest.mark.parametrize("name, besides", [
    ("IMB-MPI1", []), ("IMB-NBC", []), ("IMB-RMA", []), ("IMB-P2P", [])])
def test_intels_benchmarks_run_to_their_end(host, name, besides):
    """They check no data, but all their calls end, and without error."""
    argv = [intel(name), "-iter", 50, "-time", 0.2, "-msglog", "0:18", *besides]
    done = host.run(2, argv, timeout=900, check=True)
    assert "All processes entering MPI_Finalize" in done.stdout
