"""bench datatypes: right figures, wrong words found, clear errors.

Nothing is timed: what is tested is that each kernel runs, is checked and is
reported. What does not depend on the MPI is tested under one of them.
"""

import json
import pathlib
import sys
import xml.etree.ElementTree as xml

import pytest
from harness import gpus, patience, schemas, spread
from harness.hosts import ROOT
from harness.programs import SWITCH, bench
from straightway import cli
from straightway.bench import datatypes, results
from straightway.commands.bench import choices
from straightway.errors import UserError
from straightway.reporters import datatypes_svg, datatypes_terminal, output

HERE = pathlib.Path(__file__).parent
KERNELS = ROOT / "bench" / "kernels"

# Switches like ours; with SPOIL, changes a byte of each datatype's message.
STAND_IN = "#ifdef SWITCHES\n" + SWITCH + r"""
int MPI_Recv(void *to, int n, HANDLE type, int from, int tag, HANDLE comm,
             void *status)
{
    int (*host)(void *, int, HANDLE, int, int, HANDLE, void *) =
        dlsym(RTLD_DEFAULT, "PMPI_Recv");
    int error = host(to, n, type, from, tag, comm, status);
    if (state && n == 1)
        ((unsigned char *)to)[SPOIL] += 1;
    return error;
}
#endif
"""


def stand_in(host, folder, *flags):
    source = folder / "lib.c"
    source.write_text(STAND_IN)
    handle = "int" if host.flavour == "mpich" else "void *"
    patience.run(["cc", "-shared", "-fPIC", f"-DHANDLE={handle}", *flags,
                  source, "-o", folder / "lib.so"], check=True, timeout=60)
    return folder / "lib.so"


def run(host, *arguments, **options):
    return bench(host, "datatypes", *arguments, timeout=240, **options)


# Runs -------------------------------------------------------------------

def test_every_kernel_is_measured_in_every_way(host, tmp_path):
    out, plot = tmp_path / "d.json", tmp_path / "d.svg"
    done = run(host, "--to", "8k", "--json", out, "--svg", plot)
    assert done.returncode == 0, done.stdout + done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    for word in [*datatypes.KERNELS, "floor", "geometric means", "untouched",
                 "Overall"]:
        assert word in done.stdout

    found = json.loads(out.read_text())
    assert found["schema"] == "straightway-bench-datatypes/1"
    schemas.check("bench", found, "cells")
    assert found["switchable"] and found["ranks"] == 2
    assert found["machine"]["cpu"] and found["mpi"]["version"]
    plan = found["plan"]
    assert plan["kernels"] == list(datatypes.KERNELS)
    assert (plan["from"], plan["to"]) == (4096, 8192)
    cells = found["cells"]
    assert list(dict.fromkeys(c["operation"] for c in cells)) == \
        plan["kernels"]
    assert [c["data"] for c in cells] == \
        ["untouched", "fresh"] * (len(cells) // 2)
    for cell in cells:
        assert 4096 <= cell["size"] <= 8192
        assert cell["type_bytes"] == cell["size"] < cell["extent"]
        assert cell["application"] == datatypes.KERNELS[cell["operation"]]
        assert cell["runs_sent"] >= 1 and cell["memcpy"] > 0
        for way in datatypes.WAYS:
            one = cell[way]
            assert one["right"] and one["wrong"] is None
            assert len(one["samples"]) >= 5 and one["calls"] >= 1
            assert 0 < one["min"] <= one["low"] <= one["median"] \
                <= one["high"]
        for name, (above, below) in datatypes.RATIOS.items():
            assert cell[name] == pytest.approx(
                cell[above]["median"] / cell[below]["median"])
    assert set(found["summary"]["means"]) == {*plan["kernels"], "all"}

    space = "{http://www.w3.org/2000/svg}"
    picture = xml.fromstring(plot.read_text())
    assert picture.tag == space + "svg"
    classes = [e.get("class") for e in picture.iter()]
    assert classes.count("frame") == 2 * len(plan["kernels"])
    for way in ("hand", "host", "ours"):
        assert classes.count("dot-" + way) == len(cells)


def test_what_is_asked_for_is_measured(one_host, tmp_path):
    out = tmp_path / "d.json"
    done = run(one_host, "--kernels", "nas_lu_*,MILC_su3_zd", "--published",
               "--from", "1", "--to", "13k", "--fresh", "--json", out)
    assert done.returncode == 0, done.stdout + done.stderr
    cells = json.loads(out.read_text())["cells"]
    lines = [480, 1320, 2560, 4080, 6480]
    assert [(c["operation"], c["size"]) for c in cells] == [
        ("milc_su3_zd", 12288), *(("nas_lu_x", n) for n in lines),
        *(("nas_lu_y", n) for n in lines)]
    assert {c["data"] for c in cells} == {"fresh"}
    assert all(c["published"] for c in cells)
    # one line of cells, and one run for each cell
    assert {c["runs_sent"] for c in cells if c["operation"] == "nas_lu_x"} \
        == {1}
    assert cells[-1]["runs_sent"] == 162


def test_no_message_between_the_bounds_is_an_error(one_host):
    done = run(one_host, "--kernels", "triangle", "--from", "5k", "--to",
               "6k")
    assert done.returncode == 2
    assert "no message of triangle has from 5120 to 6144 bytes" in done.stderr


def test_a_spoilt_word_is_found(one_host):
    done = run(one_host, "--corrupt", "--kernels", "triangle,fft2", "--to",
               "4300")
    assert done.returncode == 1
    for kernel, size in (("fft2", 4096), ("triangle", 4224)):
        lines = [line for line in done.stderr.splitlines()
                 if f"WRONG RESULT: {kernel} at {size} bytes with" in line]
        # four ways, two kinds of data
        assert len(lines) == 8
        assert all("of rank 0's array is 0x" in line
                   and "--corrupt spoilt it" in line for line in lines)
        for words in ("packed by hand), untouched data", "(no gaps), fresh",
                      "with Straightway, fresh"):
            assert any(words in line for line in lines)
    assert "WRONG" in done.stdout


@pytest.mark.parametrize("byte, words", [
    (1, "byte 0 of rank 0's array is"),
    # the first row of the triangle has one double
    (8, "byte 8 of rank 0's array, in a gap, is"),
])
def test_a_wrong_byte_of_ours_is_ours(one_host, tmp_path, byte, words):
    library = stand_in(one_host, tmp_path, "-DSWITCHES", f"-DSPOIL={byte}")
    done = run(one_host, "--kernels", "triangle", "--to", "5k",
               library=library)
    assert done.returncode == 1
    assert done.stderr.count("WRONG") == 2
    for data in ("untouched", "fresh"):
        assert ("WRONG RESULT: triangle at 4224 bytes with Straightway, "
                f"{data} data: {words}") in done.stderr


def test_where_ours_cannot_be_had_the_host_is_shown(one_host, tmp_path):
    out = tmp_path / "d.json"
    done = run(one_host, "--kernels", "stencil2d", "--to", "5k", "--json",
               out, "--svg", tmp_path / "d.svg",
               library=stand_in(one_host, tmp_path))
    assert done.returncode == 1
    assert "the run measured only" in done.stderr
    for cell in json.loads(out.read_text())["cells"]:
        assert cell["host"]["right"] and cell["hand"]["right"]
        assert cell["ours"] is cell["contiguous"] is cell["ratio"] is None


# The kernels ------------------------------------------------------------

def test_datatypes_and_loops_have_the_same_bytes(host):
    program = host.compile(HERE / "bench_kernels.c", f"-I{KERNELS}",
                           *sorted(KERNELS.glob("*.c")))
    done = host.run(1, [program], straightway=False, check=True, timeout=120)
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    assert {m["kernel"]: m["application"] for m in messages} == \
        datatypes.KERNELS
    assert list(dict.fromkeys(m["kernel"] for m in messages)) == \
        list(datatypes.KERNELS)
    for m in messages:
        assert m["sent"] == m["received"] == m["bytes"] > 0
        assert m["sent_inside"] and m["received_inside"]
        assert 4 * m["extent"] <= datatypes.memory(m["bytes"])
        if "packed" in m:
            assert m["packed"] == m["unpacked"] == m["bytes"]
    for kernel in datatypes.KERNELS:
        mine = [m for m in messages if m["kernel"] == kernel]
        sizes = [m["bytes"] for m in mine]
        assert sizes == sorted(set(sizes))
        assert any("packed" in m for m in mine)
        assert any(4096 <= n <= 8192 for n in sizes)
        assert any(2 << 20 < n <= 4 << 20 for n in sizes)


@pytest.mark.parametrize("kernel, sizes", spread.some([
    ("milc_su3_zd", [12288, 24576, 49152, 98304]),
    ("nas_mg_x", [2048, 32768, 131072, 524288]),
    ("nas_mg_z", [4096, 65536, 262144, 1048576]),
    ("nas_lu_y", [480, 1320, 2560, 4080, 6480, 16320, 40800]),
    ("specfem3d_oc", [1972, 3508, 7588, 12900]),
    ("specfem3d_mt", [67200, 74400, 76800, 91200]),
    ("fft2", [65536, 262144, 589824, 1048576, 2359296]),
]))
def test_published_sizes_are_those_of_ddtbench(one_host, kernel, sizes):
    program = one_host.compile(
        HERE / "bench_kernels.c", f"-I{KERNELS}",
        *sorted(KERNELS.glob("*.c")))
    done = one_host.run(1, [program], straightway=False, check=True,
                        timeout=120)
    messages = map(json.loads, done.stdout.splitlines())
    assert [m["bytes"] for m in messages
            if m["kernel"] == kernel and m["published"]] == sizes


# In a GPU -----------------------------------------------------------------

@pytest.fixture(scope="module")
def gpu(_scratch, tmp_path_factory):
    """The environment of a run beside the stand-in for a GPU."""
    return {"LD_LIBRARY_PATH": gpus.driver(_scratch).parent,
            "STRAIGHTWAY_GPU_KERNELS": gpus.kernels(
                tmp_path_factory.mktemp("gpu"))}


SOME = ("--kernels", "nas_lu_y,nas_mg_x,lammps_full,stencil2d", "--from", "4k",
        "--to", "9k")


@pytest.mark.parametrize("memory", [
    "gpu", pytest.param("gpu,host", marks=pytest.mark.deep),
    pytest.param("host,gpu", marks=pytest.mark.deep)])
def test_arrays_in_a_gpu(one_host, gpu, tmp_path, memory):
    out, plot = tmp_path / "d.json", tmp_path / "d.svg"
    done = run(one_host, "--memory", memory, *SOME, "--json", out, "--svg",
               plot, env=gpu)
    assert done.returncode == 0, done.stdout + done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "planes" in done.stdout and "Overall: runs / ours" in done.stdout
    found = json.loads(out.read_text())
    schemas.check("bench", found, "cells")
    assert found["plan"]["memory"] == (memory.split(",") * 2)[:2]
    for cell in found["cells"]:
        assert cell["host"] is None and cell["ratio"] is None
        assert cell["ours"]["right"] and cell["hand"]["right"]
        assert cell["data"] == "untouched"
        if memory == "gpu":
            assert cell["planes_sent"] <= cell["runs_sent"]
    assert any(c["planes"] and c["planes"]["right"] for c in found["cells"])
    assert any(not c["planes"] for c in found["cells"])


def test_a_spoilt_word_in_a_gpu_is_found(one_host, gpu):
    done = run(one_host, "--memory", "gpu,host", *SOME, "--corrupt", env=gpu)
    assert done.returncode == 1
    assert "WRONG RESULT: nas_lu_y" in done.stderr
    assert "planes packed by hand" in done.stderr


def test_without_a_gpu_the_reason_is_named(one_host):
    done = run(one_host, "--memory", "gpu", *SOME)
    assert done.returncode == 1
    assert "no driver of a GPU" in done.stderr


# Options and mistakes ---------------------------------------------------

@pytest.mark.parametrize("arguments, words", [
    (["--kernels", "ff2"], "did you mean fft2?"),
    (["--kernels", "x"], "give one of wrf_x_vec"),
    (["--kernels", "wrf_q*"], "unknown kernel wrf_q*"),
    (["--kernel", "fft2"], "did you mean --kernels?"),
    (["--frm", "8k"], "did you mean --from?"),
    (["--from", "banana"], "give a size from 1 to 1g"),
    (["--from", "0"], "give a size from 1 to 1g"),
    (["--to", "2g"], "give a size from 1 to 1g"),
    (["--from", "9k", "--to", "8k"], "give a smaller --from"),
    (["--seconds", "0"], "more than 0"),
    (["--json", "/nowhere/at/all.json"], "there is no folder"),
    (["--svg", "/nowhere/at/all.svg"], "there is no folder"),
    (["--mpi", "/nowhere"], "does not exist"),
    (["--memory", "gpus"], "did you mean gpu?"),
    (["--memory", "gpu,"], "unknown memory (none)"),
    (["--memory", "gpu,host,gpu"], "one for each rank"),
    (["--memory", "gpu", "--fresh"], "omit --fresh"),
])
def test_a_mistake_is_named_before_anything_runs(arguments, words, capsys):
    try:
        status = cli.main(["bench", "datatypes", *arguments])
    except SystemExit as end:
        status = end.code
    error = capsys.readouterr().err
    assert status in (1, 2)
    assert words in error and error.startswith("straightway: ")


def test_help_fits_80_columns(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as end:
        cli.main(["bench", "datatypes", "--help"])
    assert end.value.code == 0
    text = capsys.readouterr().out
    assert "--kernels" in text
    assert max(map(len, text.splitlines())) <= 80


def test_kernels_are_read():
    def read(text):
        return choices.parse_names("--kernels", "kernel", text,
                                     datatypes.KERNELS)
    assert read("nas_mg_?,wrf_*_sa") == [
        "wrf_x_sa", "wrf_y_sa", "nas_mg_x", "nas_mg_y", "nas_mg_z"]
    assert read("all") == list(datatypes.KERNELS)
    with pytest.raises(UserError, match="did you mean triangle"):
        read("traingle")


# The arithmetic ---------------------------------------------------------

def cell(kernel, size, data, host, hand, ours, floor):
    def one(time):
        return time and dict(median=time, low=time / 99, high=time, min=time,
                             right=True)
    made = {"operation": kernel, "size": size, "data": data, "floor": 1,
            "application": "A", "host": one(host), "hand": one(hand),
            "ours": one(ours), "contiguous": one(floor)}
    return dict(made, **datatypes.ratios(made))


def test_ratios_and_means():
    cells = [cell("fft2", 4096, "fresh", 8, 4, 2, 1),
             cell("fft2", 8192, "fresh", 2, 1, 2, 1),
             cell("triangle", 4096, "fresh", 9, 9, 1, 1),
             cell("triangle", 4096, "untouched", 9, 9, None, None)]
    assert (cells[0]["ratio"], cells[0]["hand_ratio"],
            cells[0]["floor_ratio"]) == (4, 2, 2)
    assert cells[3]["ratio"] is cells[3]["floor_ratio"] is None
    means = datatypes.means(cells)
    assert list(means) == ["fft2", "triangle", "all"]
    assert means["fft2"]["fresh"]["ratio"] == pytest.approx(2)
    assert means["fft2"]["fresh"]["hand_ratio"] == pytest.approx(1)
    assert means["all"]["fresh"]["ratio"] == pytest.approx(36 ** (1 / 3))
    assert means["triangle"]["untouched"]["ratio"] is None


@pytest.mark.parametrize("sizes", [(4096,), (4194304, 5), (63168, 102648)])
@pytest.mark.parametrize("ours", [99999, None])
def test_any_set_of_sizes_can_be_drawn(sizes, ours, capsys):
    cells = [cell("specfem3d_oc", n, data, 99999, 99999, ours,
                  ours and 99999) for n in sizes for data in datatypes.DATA]
    report = {"cells": cells, "ranks": 2, "oversubscribed": True,
              "floors": {}, "mpi": {"name": "A & B"},
              "plan": {"data": list(datatypes.DATA)},
              "summary": dict(results.summary(cells, datatypes.KERNELS),
                              means=datatypes.means(cells)),
              "machine": {"cpu": "<x>", "cores": 1, "kernel": "6",
                          "date": "2026-01-01"}}
    datatypes_terminal.render(report, sys.stdout)
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    assert "…" not in shown and shown.count("99,999") >= 4 * len(sizes)
    picture = xml.fromstring(output.text(datatypes_svg, report))
    names = [e.get("class") for e in picture.iter()]
    assert names.count("frame") == names.count("floor") - 1 == 2
    assert names.count("dot-ours") == (len(cells) if ours else 0)
