"""straightway topo: a machine and a job's ranks in every form."""

import json
import pathlib
import random
import xml.etree.ElementTree

import jsonschema
import pytest
import straightway
from harness import machines, patience, spread
from harness import nodes as test_nodes
from harness.hosts import COMMAND
from straightway import cli
from straightway.machine import groups, hardware, job, survey
from straightway.machine.readers import furnish, hwloc, saved, slurm
from straightway.ranges import ranges
from straightway.reporters import (heat, output, topo_html, topo_json,
                                   topo_svg, topo_terminal)
from straightway.whatif import models
from test_command import environment
from test_tree import FAR, times

SCHEMA = json.loads((pathlib.Path(straightway.__file__).parent / "schemas"
                     / "topo.schema.json").read_text())
CONF = "SwitchName=s1 Nodes=n[01-06]\nSwitchName=s2 Nodes=n[07-12]\n" \
    "SwitchName=top Switches=s[1-2]\n"


def topo(*arguments, **changes):
    return patience.run([COMMAND, "topo", *map(str, arguments)], text=True,
                        capture_output=True, timeout=120,
                        env=environment(COLUMNS="80", **changes))


def surveyed(machine, *cpus, measured=False):
    """A Survey of a machine, with ranks on these processors."""
    node = hwloc.parse(machines.xml(machine), "x")
    found = survey.Survey(node, "lstopo")
    found.ranks = [job.Rank(i, 0, "alpha", c, 0) for i, c in enumerate(cpus)]
    found.checks = job.checks(node, found.ranks, lambda n: str(ranges(n)))
    if measured:
        mine = groups.cores(node, node.cpus)
        trip = times(node, mine, FAR)
        draw = random.Random(2)
        survey.add_cores(found, {"processors": mine, "round_trip": trip,
                                 "read": [[t and 900 / t * draw.uniform(
                                     0.9, 1.1) for t in row] for row in trip]})
    return found


@pytest.fixture
def files(tmp_path):
    (tmp_path / "topology.conf").write_text(CONF)
    (tmp_path / "gpus.xml").write_text(machines.xml(machines.GPUS))
    (tmp_path / "domains.xml").write_text(machines.xml(machines.DOMAINS))
    return tmp_path


def check_schema(found):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    assert set(SCHEMA["properties"]) == set(found)
    return found


# This machine ---------------------------------------------------------------

@pytest.mark.parametrize("source", [(), ("--sysfs",)])
def test_this_machine(source):
    done = topo("--json", "-", *source)
    assert done.returncode == 0, done.stderr
    found = check_schema(json.loads(done.stdout))
    tree = saved.tree(found["tree"])
    assert tree.kind == "node" and tree.name == found["machine"]["host"]
    allowed = {int(n) for n in hardware.affinity()}
    assert allowed <= {t.number for t in tree.all("thread")}
    assert not found["ranks"] and found["cores"] is None
    assert "Linux" in found["source"] or not source


def test_the_page_of_this_machine_fits_80_columns():
    done = topo()
    assert done.returncode == 0, done.stderr
    assert "cores" in done.stdout and "processors" in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines())


@pytest.mark.alone
@pytest.mark.skipif(hardware.cores() < 2, reason="one core")
def test_cores_are_measured():
    done = topo("--measure", "--json", "-")
    assert done.returncode == 0, done.stderr
    cores = check_schema(json.loads(done.stdout))["cores"]
    n = len(cores["processors"])
    assert n == hardware.cores()
    for name, least, most in (("round_trip_ns", 5, 1e6),
                              ("read_gbs", 1e-3, 1e3)):
        assert len(cores[name]) == n
        for a, row in enumerate(cores[name]):
            assert row[a] is None and len(row) == n
            assert all(least < v < most for v in row if v is not None)
    assert cores["round_trip_ns"][0][1] == cores["round_trip_ns"][1][0]


def test_a_processor_that_is_refused_is_named():
    probe = pathlib.Path(COMMAND).parent.parent / "lib/straightway" / \
        "straightway-probe"
    done = patience.run([probe, "--cores", "0,60000"], text=True,
                        capture_output=True, timeout=60)
    assert done.returncode == 1 and "60000" in done.stderr
    done = patience.run([probe, "--cores", "0,x"], text=True,
                        capture_output=True, timeout=60)
    assert done.returncode == 2 and "list like 0,2,4" in done.stderr


def test_a_tool_that_fails_names_the_other_source(tmp_path):
    tool = tmp_path / "lstopo-no-graphics"
    tool.write_text("#!/bin/sh\necho it is broken >&2\nexit 3\n")
    tool.chmod(0o755)
    path = f"{tmp_path}:/usr/bin:/bin"
    done = topo(PATH=path)
    assert done.returncode == 1
    assert "it is broken" in done.stderr and "--sysfs" in done.stderr
    assert topo("--sysfs", PATH=path).returncode == 0


# Machines elsewhere ---------------------------------------------------------

def test_a_network_whose_nodes_are_alike(files, capsys):
    out = {name: files / f"out.{name}" for name in ("json", "svg", "toml")}
    assert cli.main([
        "topo", "--slurm", str(files / "topology.conf"), "--hwloc",
        str(files / "domains.xml"), "--json", str(out["json"]), "--svg",
        str(out["svg"]), "--model", str(out["toml"])]) == 0
    page = capsys.readouterr().out
    for text in ("switch s1: 6 nodes", "nodes n[01-06]", "n01: 12 alike",
                 "8 NUMA domains", "memory of numa 8"):
        assert text in page, page
    found = check_schema(json.loads(out["json"].read_text()))
    tree = saved.read(out["json"])
    assert len(tree.all("core")) == 12 * machines.DOMAINS.count
    assert found["machine"] is None and found["allowed"] is None
    xml.etree.ElementTree.fromstring(out["svg"].read_text())
    model = models.load(["node", "hdr200", str(out["toml"])])
    assert model.data["nodes"] == 12
    assert model.data["ranks_per_node"] == machines.DOMAINS.count
    assert model.data["ranks_per_domain"] == 8
    assert model.data["network"]["nodes_per_leaf"] == 6
    assert model.lines(12 * machines.DOMAINS.count)
    assert cli.main(["topo", "--saved", str(out["json"])]) == 0
    # Below the names of the files.
    assert capsys.readouterr().out.partition("\n\n")[2] == \
        page.partition("\n\n")[2]


@pytest.mark.parametrize("words, what", [
    (["--hwloc", "gpus.xml", "--saved", "x"], "two machines"),
    (["--hwloc", "nothing.xml"], "No such file"),
    (["--slurm", "gpus.xml"], "line 2"),
    (["--hwloc", "topology.conf"], "line 1: no XML"),
    (["--hwloc", "gpus.xml", "--measure"], "needs the machine itself"),
    (["--hwlok", "x"], "did you mean --hwloc"),
    (["--json", "no/folder"], "there is no folder")])
def test_mistakes_are_named(files, capsys, monkeypatch, words, what):
    monkeypatch.chdir(files)
    try:
        assert cli.main(["topo", *words]) in (1, 2)
    except SystemExit as stop:
        assert stop.code == 2
    assert what in capsys.readouterr().err


def test_devices_and_their_nearness(files, capsys):
    assert cli.main(["topo", "--hwloc", str(files / "gpus.xml")]) == 0
    page = capsys.readouterr().out
    lines = {line.split("  ")[0].strip(): line for line in page.splitlines()}
    assert "mlx5_0 (PCI switch)" in lines["GPU card0"]
    assert "mlx5_1 (package 1)" in lines["GPU card2"]


def test_a_long_list_of_processors_goes_on_below(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    machine = machines.Machine(packages=1, l3s=1, cores=48, threads=2,
                               apart=False)
    node = hwloc.parse(machines.xml(machine), "x")
    for core in node.all("core")[1::2]:
        core.cpus = 0
    for place in [*node.all("cache"), *node.all("package"), *node.all("numa")]:
        place.cpus = sum(core.cpus for core in place.all("core"))
    page = output.text(topo_terminal, survey.Survey(node, "lstopo"))
    assert max(map(len, page.splitlines())) <= 80 and "\u2026" not in page
    said = "".join(page.split())
    assert ",".join(f"{n}-{n + 1}" for n in range(0, 96, 4)) in said


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("model", ["", "GH100 [H100 SXM5 80GB] of a maker "
                                   "with a long name"])
def test_the_nearest_adapter_is_never_cut(files, capsys, monkeypatch, columns,
                                          model):
    monkeypatch.setenv("COLUMNS", str(columns))
    found = survey.Survey(hwloc.read(files / "gpus.xml"), "lstopo")
    for device, _ in survey.devices(found.tree):
        device.model = model if device.kind == "gpu" else ""
    page = output.text(topo_terminal, found)
    assert max(map(len, page.splitlines())) <= columns
    assert "mlx5_0 (PCI switch)" in page and "mlx5_1 (package 1)" in page
    assert " ".join(page.split()).count(model) >= 1
    for device, _ in survey.devices(found.tree):
        device.name = f"{device.name}-with-a-name-of-many-words"
    page = output.text(topo_terminal, found)
    assert "mlx5_0-with-a-name-of-many-words (PCI switch)" in \
        " ".join(page.split())


# Forms ----------------------------------------------------------------------

def test_the_ranks_are_on_the_page():
    found = surveyed(machines.TWO_BY_FOUR, 1, 1, 0xf0)
    check_schema(json.loads(output.text(topo_json, found)))
    page = output.text(topo_terminal, found)
    assert "bound to the same core: ranks 0-1 on core 0" in page
    rows = [" ".join(line.split()) for line in page.splitlines()]
    assert "1 core 0 0 0 0 L3 0 0" in rows and "2 package 1 4-7 1 1 L3 1 0" \
        in rows
    assert "0 0, 16 GiB L3 0, 32 MiB 0-3 0-3 0-1" in rows
    drawing = output.text(topo_svg, found)
    root = xml.etree.ElementTree.fromstring(drawing)
    boxes = {e.get("class"): e for e in root.iter() if e.get("class")}
    assert "core twice" in boxes and "core taken" not in boxes
    assert ">r0-1<" in drawing


def test_the_figures_are_on_the_page():
    found = surveyed(machines.DOMAINS, measured=True)
    check_schema(json.loads(output.text(topo_json, found)))
    page = " ".join(output.text(topo_terminal, found).split())
    assert "16 groups of cores" in page and "the same (L3)" in page
    small = output.text(topo_terminal, surveyed(machines.TWO_BY_FOUR,
                                                measured=True))
    assert "round trip of a cache line between cores, ns" in small
    html = output.text(topo_html, found)
    assert html.count('class="q') > 8
    for word in ("http:", "https:", "<link", "url(", "@import"):
        assert word not in html.replace("http://www.w3.org/2000/svg", "")


def test_alike_figures_have_one_colour():
    near, far = [30, 31, 33], [90, 95, 99]
    values = near + far
    one = heat.Map("", "ns", [values], range(6), True)
    steps = {i: (low, high) for i, low, high, _ in one.steps}
    assert sorted(steps.values()) == [(30, 33), (90, 99)]
    other = heat.Map("", "GB/s", [values], range(6), False)
    assert [i for i, *_ in other.steps][0] == 0
    assert other.steps[0][1:3] == (90, 99)      # the fastest is the lightest
    assert len(heat.Map("", "ns", [[50, 50.5]], range(2), True).steps) == 1
    for seed in range(50):
        draw = random.Random(seed)
        row = [10 ** draw.uniform(0, draw.choice((0.01, 1, 4)))
               for _ in range(draw.randint(1, 60))]
        made = heat.Map("", "ns", [row], range(len(row)), True)
        assert sum(path.count("M") for *_, path in made.steps) == len(row)
        bounds = [v for _, low, high, _ in made.steps for v in (low, high)]
        assert bounds == sorted(bounds)
        highs = [high for _, _, high, _ in made.steps]
        assert highs == sorted(highs)


def test_alike_figures_are_light():
    """The fewest colours have a light one; little differs, so little shows."""
    for slow in True, False:
        def colours(*values, slow=slow):
            return [i for i, *_ in heat.Map("", "", [values], values,
                                            slow).steps]
        assert colours(57.3) == colours(50, 50.5) == colours(48, 50, 52) == \
            [heat.ALIKE]
        assert max(colours(50, 60)) <= heat.ALIKE + 1
        assert colours(50, 60, 190) == [0, colours(50, 60, 190)[1],
                                        heat.STEPS - 1]


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_in_a_browser(browser, tmp_path, width, dark):
    path = tmp_path / "topo.html"
    path.write_text(output.text(topo_html, surveyed(
        machines.DOMAINS, *(1 << i for i in range(8)), measured=True)))
    page = browser.open(path, width=width, dark=dark)
    assert not page.complaints
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for i in range(2):
        box = page.evaluate(
            f"(b => [b.width, b.height])(document.querySelectorAll("
            f"'.square > svg')[{i}].getBoundingClientRect())")
        assert box[0] > 250 and abs(box[0] - box[1]) < 1
    colours = page.evaluate(
        "[...document.querySelectorAll('.square > svg')].map(s => "
        "[...s.querySelectorAll('path')].map(p => getComputedStyle(p).fill))")
    for fills in colours:
        assert len(fills) == len(set(fills)) >= 4


# Each text belongs to the box before it.
OVERFLOWS = """[...document.querySelectorAll('.topo text')].filter(t => {
    let r = t;
    while (r.tagName != 'rect') r = r.previousElementSibling;
    const a = r.getBBox(), b = t.getBBox();
    return b.width && (b.x < a.x + 1 ||
        b.x + b.width > a.x + a.width - 1 || b.y < a.y ||
        b.y + b.height > a.y + a.height); }).map(t => t.textContent)"""
CLUSTER = (
    "SwitchName=s0 Nodes=frontier[00001-00128]\n"
    "SwitchName=s1 Nodes=login1,GPU-WWMM-node,gpu-node-c,"
    "frontier[00300,00302,00305,00307,00311-00350,09408]\n"
    "SwitchName=a-long-name-of-a-switch-in-the-third-hall-with-more-words-"
    "than-a-box-has-room-for Nodes=" + ",".join(
        f"cabinet-x{i}c0s0b{j}n0" for i in range(40) for j in (0, 2))
    + "\nSwitchName=top Switches=s[0-1],a-long-name-of-a-switch-in-the-third-"
    "hall-with-more-words-than-a-box-has-room-for\n")


@pytest.fixture
def cluster(tmp_path):
    (tmp_path / "cluster.conf").write_text(CLUSTER)
    (tmp_path / "node.xml").write_text(machines.xml(machines.Machine(
        packages=2, numas=4, l3s=2)))
    tree = furnish(slurm.read(tmp_path / "cluster.conf"),
                   hwloc.read(tmp_path / "node.xml"))
    return survey.Survey(tree, "files")


@pytest.mark.parametrize("columns", [60, 80])
def test_no_line_ends_inside_a_name(monkeypatch, cluster, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    page = output.text(topo_terminal, cluster)
    lines = page.splitlines()
    assert max(map(len, lines)) <= columns
    assert "nodes frontier[00001-00128]" in page
    network = page[page.index("Network"):page.index("alike")]
    for i in range(40):
        for j in (0, 2):
            assert f"cabinet-x{i}c0s0b{j}n0" in network


@pytest.mark.parametrize("width", [400, 800, 1280])
def test_a_clusters_names_stay_inside_boxes_and_boxes_inside_the_page(
        browser, tmp_path, cluster, width):
    for name, form in ("topo.svg", topo_svg), ("topo.html", topo_html):
        (tmp_path / name).write_text(output.text(form, cluster))
        page = browser.open(tmp_path / name, width=width)
        assert page.evaluate(OVERFLOWS) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(
        "(s => [s.scrollWidth, s.clientWidth])(document.querySelector("
        "'#machine .scroll')).reduce((a, b) => a <= b)")
    assert "frontier[00001-00128]" in (tmp_path / "topo.svg").read_text()
    assert page.evaluate(
        "[...document.querySelectorAll('h3 .name')].filter("
        "e => e.getClientRects().length > 1 || e.offsetHeight > 30).length") \
        == 0


@pytest.mark.parametrize("width", spread.some([400, 1280]))
@pytest.mark.parametrize("machine", [
    machines.Machine(cores=1), machines.Machine(cores=2),
    machines.Machine(packages=2, cores=64), machines.GPUS],
    ids=["one", "two", "2x64", "gpus"])
def test_titles_stay_inside_their_boxes(browser, tmp_path, machine, width):
    found = surveyed(machine, 1, 1)
    for name, form in ("topo.svg", topo_svg), ("topo.html", topo_html):
        (tmp_path / name).write_text(output.text(form, found))
        page = browser.open(tmp_path / name, width=width)
        assert page.evaluate(OVERFLOWS) == []
    # On a narrow screen the drawing is narrow, too; one of two is shown.
    shown = page.evaluate("[...document.querySelectorAll('.machine')].map("
                          "s => s.getBoundingClientRect().width)")
    assert sum(map(bool, shown)) == 1 and max(shown) <= width - 16


def test_a_drawing_without_a_page_has_colours(browser, tmp_path):
    path = tmp_path / "topo.svg"
    path.write_text(output.text(topo_svg, surveyed(machines.GPUS,
                                                   measured=True)))
    page = browser.open(path)
    assert not page.complaints
    assert page.evaluate("getComputedStyle(document.querySelector('.gpu'))"
                         ".fill") not in ("rgb(0, 0, 0)", "none", "")


# Ranks of a job -------------------------------------------------------------

def job_of(host, words, path, **how):
    done = host.run(2, words, straightway=False, check=True, **how)
    return check_schema(json.loads(path.read_text())), done


def test_ranks_of_a_job(host, tmp_path):
    path = tmp_path / "topo.json"
    found, done = job_of(host, [COMMAND, "topo", "--json", path], path)
    assert [r["rank"] for r in found["ranks"]] == [0, 1]
    assert {r["node"] for r in found["ranks"]} == {0}
    assert found["mpi"] and found["tree"]["kind"] == "node"
    assert done.stdout.count("2 ranks") == 1


@pytest.mark.skipif(hardware.cores() < 2, reason="one core")
def test_ranks_on_one_core_of_a_job(host, tmp_path):
    path, first = tmp_path / "topo.json", hardware.affinity()[0]
    found, done = job_of(host, ["taskset", "-c", first, COMMAND, "topo",
                                "--json", path], path)
    assert [r["cpus"] for r in found["ranks"]] == [str(first)] * 2
    assert found["checks"][0]["status"] == "degraded"
    assert "bound to the same core: ranks 0-1" in done.stdout


@test_nodes.able
def test_ranks_over_nodes(host, tmp_path):
    path = tmp_path / "topo.json"
    done = test_nodes.run_on_nodes(
        host, (2, 1), [COMMAND, "topo", "--measure", "--json", path],
        straightway=False, check=True)
    found = check_schema(json.loads(path.read_text()))
    assert [r["node"] for r in found["ranks"]] == [0, 0, 1]
    names = [part["name"] for part in found["tree"]["parts"]]
    assert len(set(names)) == 2
    (pair,) = found["pairs"]
    assert pair["nodes"] == [0, 1]
    assert 1 < pair["latency_us"] < 1e6 and 1e-4 < pair["gbs"] < 1e3
    assert "Between nodes" in done.stdout
