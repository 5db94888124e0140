"""doctor: what is there, what is missing, and the command that mends it."""

import dataclasses
import io
import json
import os
import re
import subprocess

import pytest
from harness import patience, schemas
from harness.hosts import COMMAND, ROOT
from straightway.machine.checks import Check
from straightway.reporters import doctor_terminal
from test_command import environment


def doctor(*arguments, **changes):
    return patience.run([COMMAND, "doctor", *map(str, arguments)],
                        text=True, capture_output=True, timeout=120,
                        env=environment(COLUMNS="80", **changes))


def report(**changes):
    done = doctor("--json", "-", **changes)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return found, {c["name"]: c for c in found["checks"]}


def test_every_service_is_reported():
    found, checks = report()
    assert found["schema"] == "straightway-doctor/1"
    schemas.check("doctor", found, "checks")
    for name in ("preloaded library", "memfd", "CMA", "Yama", "page size",
                 "shared huge pages", "heap huge pages", "/dev/shm", "memory",
                 "address space", "file size", "cores", "agent",
                 "machine tables", "memcpy", "copies past the caches"):
        assert name in checks
        assert checks[name]["status"] in ("ok", "note", "degraded", "missing")
        assert checks[name]["finding"]


def test_gpus_are_one_line():
    _, checks = report(STRAIGHTWAY_GPU="on")
    finding = checks["GPUs"]["finding"]
    assert "driver" in finding and "--gpu is on" in finding
    assert "CUDA-aware" in finding and "kernels" in finding
    assert "--gpu is off" in report(STRAIGHTWAY_GPU="")[1]["GPUs"]["finding"]


def test_a_driver_without_kernels_is_degraded(tmp_path):
    source = tmp_path / "cuda.c"
    source.write_text("int cuInit(unsigned f) { return 0; }\n"
                      "int cuDeviceGetCount(int *n) { *n = 2; return 0; }\n")
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o",
                    tmp_path / "libcuda.so.1", source], check=True)
    changes = {"LD_LIBRARY_PATH": tmp_path, "STRAIGHTWAY_GPU": "on"}
    _, checks = report(STRAIGHTWAY_GPU_KERNELS=tmp_path, **changes)
    assert checks["GPUs"]["status"] == "degraded"
    assert "CUDA's driver, 2 devices" in checks["GPUs"]["finding"]
    assert "no kernels" in checks["GPUs"]["finding"]
    (tmp_path / "move.ptx").write_text(".version 7.0\n")
    _, checks = report(STRAIGHTWAY_GPU_KERNELS=tmp_path, **changes)
    assert checks["GPUs"]["status"] == "ok"
    assert "kernels from PTX" in checks["GPUs"]["finding"]


def test_what_is_degraded_has_its_price_and_its_remedy():
    for refuse in ("", "memfd,cma,peerfd,futex,huge"):
        found, checks = report(STRAIGHTWAY_REFUSE=refuse)
        for check in found["checks"]:
            if check["status"] in ("degraded", "missing"):
                assert check["cost"] and check["mend"], check


def test_a_refused_service_is_found_missing():
    _, checks = report(STRAIGHTWAY_REFUSE="memfd")
    assert checks["memfd"]["status"] == "missing"
    _, checks = report(STRAIGHTWAY_REFUSE="cma,futex,huge,page")
    assert checks["memfd"]["status"] == "ok"
    assert checks["CMA"]["status"] == "missing"
    assert checks["futex"]["status"] == "degraded"
    assert checks["page size"]["status"] == "missing"
    assert checks["page size"]["finding"] == "64 KiB"
    assert checks["shared huge pages"]["status"] == "degraded"
    _, checks = report(STRAIGHTWAY_REFUSE="peerfd")
    assert checks["memfd"]["status"] == "ok"
    assert checks["peer mapping"]["status"] == "missing"


@pytest.mark.parametrize("width", [60, 80, 100])
def test_no_line_is_wider_than_the_terminal(monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    path = "/opt/site/" + "software/" * 2 + "lib/libstraightway.so"
    remedy = "export FIRST_OF_TWO_LONG_NAMES=1 SECOND_OF_TWO_LONG_NAMES=1"
    made = [Check("a group", "a name", "missing", path, "time " * 30, text)
            for text in (remedy, "word " * 40 + "end", "short")]
    made.append(Check("a group", "another", "ok", "x/" * 100))
    out = io.StringIO()
    doctor_terminal.render({
        "machine": {"host": "h", "cpu": "c" * 30, "kernel": "5"},
        "checks": [dataclasses.asdict(check) for check in made]}, out)
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    text = "".join(out.getvalue().split())
    assert text.count(path) == 3 and "x/" * 100 in text
    assert text.count("time" * 30) == 3 and "word" * 40 + "end" in text
    # What can be copied in one piece is one line.
    assert any(path in line for line in lines)
    assert any(remedy in line for line in lines) or width < len(remedy)


def test_the_diagnosis_of_this_machine_fits_80_columns():
    done = doctor()
    assert max(map(len, done.stdout.splitlines())) <= 80


SHARED = ("windows", "blocks given away", "partitioned messages")


def test_what_lies_in_a_peers_memory_is_served_or_it_says_why():
    _, checks = report()
    for name in SHARED:
        assert checks[name]["status"] == "ok"
        assert checks[name]["finding"].startswith("served: ")
    for service in ("memfd", "peerfd", "page"):
        _, checks = report(STRAIGHTWAY_REFUSE=service)
        assert {checks[name]["status"] for name in SHARED} == {"missing"}
    for setting, names in (("RMA", SHARED[:1]), ("P2P", SHARED[1:]),
                           ("ARENA", SHARED), ("ENABLE", SHARED)):
        _, checks = report(**{f"STRAIGHTWAY_{setting}": "off"})
        for name in SHARED:
            off = name in names
            assert checks[name]["status"] == ("degraded" if off else "ok")
            assert (checks[name]["mend"] ==
                    f"unset STRAIGHTWAY_{setting}") == off


def test_the_floors_are_plausible():
    floors = report()[0]["probe"]["floors"]
    copies = {int(n): us for n, us in floors["memcpy"].items()}
    assert min(copies) == 1024 and max(copies) == 4 << 20
    for n, us in copies.items():
        assert 0.1 < n / us / 1000 < 2000       # GB/s
    if floors["round_trip"] is not None:
        assert 0.005 < floors["round_trip"] < 1000


def test_it_fits_80_columns():
    done = doctor()
    assert done.returncode == 0
    for line in done.stdout.splitlines():
        if len(line) > 80:      # a remedy to be copied, or one long path
            assert line.lstrip().startswith("mend:") or re.search(
                r"\S{45,}$", line), line


def test_the_hosts_are_found(host):
    done = doctor("--json", "-", "--mpi", host.library)
    found = json.loads(done.stdout)["mpi"]
    assert [h["flavour"] for h in found] == [host.flavour]
    kind = {"openmpi": "openmpi", "impi": "intel"}.get(
        host.name.replace("debian-", ""), "mpich")
    assert found[0]["kind"] == kind
    assert re.search(r"\d+\.\d+", found[0]["name"])
    assert found[0]["launcher"]


def test_a_missing_library_makes_status_1():
    done = doctor(STRAIGHTWAY_LIB="/nowhere/libstraightway.so")
    assert done.returncode == 1
    assert "/nowhere/libstraightway.so" in done.stdout


def test_an_mpi_that_is_not_there_is_a_clear_error(tmp_path):
    done = doctor("--mpi", tmp_path)
    assert done.returncode == 1
    assert "holds no MPI library" in done.stderr
    done = doctor("--mpi", "mpihc")
    assert done.returncode == 2
    assert "did you mean mpich?" in done.stderr


def test_settings_are_those_of_the_table():
    done = doctor("--settings", "--json", "-", STRAIGHTWAY_STATS="on")
    table = json.loads(done.stdout)["settings"]
    names = re.findall(r"^SW_SETTING\(\w+, \w+, (\w+),",
                       (ROOT / "src/node/base/settings.def").read_text(), re.M)
    assert [s["name"] for s in table] == ["STRAIGHTWAY_" + n for n in names]
    assert [s["name"] for s in table if s["value"]] == ["STRAIGHTWAY_STATS"]
    text = doctor("--settings").stdout
    for line in table:
        assert line["name"] in text and line["option"] in text
    assert "STRAIGHTWAY_REFUSE" not in text


@pytest.mark.parametrize("word", ["--settings=all", "--settings all"])
def test_all_settings_are_those_of_tests_too(word):
    done = doctor(*word.split(), "--json", "-", STRAIGHTWAY_REFUSE="cma")
    table = json.loads(done.stdout)["settings"]
    names = re.findall(r"^SW_(?:INNER_)?SETTING\(\w+, \w+, (\w+),",
                       (ROOT / "src/node/base/settings.def").read_text(), re.M)
    assert [s["name"] for s in table] == ["STRAIGHTWAY_" + n for n in names]
    assert [s["name"] for s in table if s["value"]] == ["STRAIGHTWAY_REFUSE"]
    text = doctor("--settings=all").stdout
    for line in table:
        assert line["name"] in text and line["option"] in text
    assert text.index("STRAIGHTWAY_VERBOSE") < text.index("tests") \
        < text.index("STRAIGHTWAY_REFUSE")


def test_settings_that_do_not_exist():
    done = doctor("--settings=al")
    assert done.returncode == 2
    assert "did you mean all?" in done.stderr


def test_the_page_of_settings_is_up_to_date():
    import importlib.util
    spec = importlib.util.spec_from_file_location(
        "make_settings", ROOT / "docs" / "make_settings.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = json.loads(doctor("--settings=all", "--json", "-").stdout)
    schemas.check("doctor", found, "settings")
    page = module.render(found["settings"])
    assert (ROOT / "docs" / "settings.md").read_text() == page, (
        "run docs/make_settings.py")
