"""Models in TOML: presets, combination, errors, and what the engine reads."""

import json
import random
import re
import subprocess
import sys

import pytest
from harness.hosts import ROOT

from straightway import native
from straightway.errors import UserError
from straightway.whatif import models
from straightway.whatif.models import quantities
from straightway.whatif.models.check import (KINDS, MEMORY, ONESIDED,
                                             OPERATIONS)
from straightway.whatif.models.lines import Line, text

NETWORKS = ["qdr", "fdr", "edr", "hdr200", "ndr400", "omnipath",
            "slingshot11", "aries", "ethernet1", "ethernet10", "ethernet25",
            "ethernet40", "ethernet100"]
SHAPES = ["crossbar", "fat-tree", "torus", "dragonfly", "dragonfly-valiant"]
OTHERS = sorted(set(models.names()) - set(NETWORKS) - set(SHAPES))


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def check(model, ranks):
    """What the engine makes of it: its words, or its error."""
    models.write(model, "model", ranks)
    done = subprocess.run(
        [native.folder() / "straightway-whatif", "check", "model"], text=True,
        stdin=subprocess.DEVNULL, capture_output=True)
    assert done.returncode in (0, 1)
    return json.loads(done.stdout) if not done.returncode else done.stderr


def lines_of(model, ranks):
    """The lines of the model's file."""
    return text(model.lines(ranks)).splitlines()


def costs(found, kind, size):
    """send, latency, transfer, gap, receive, rendezvous"""
    return next(row[1:] for row in found["classes"][kind] if row[0] == size)


def toml(text, name="mine.toml"):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)
    return name


def refused(text, *because):
    with pytest.raises(UserError) as error:
        models.load(toml(text) if isinstance(text, str) else text)
    said = str(error.value)
    for part in because:
        assert part in said, said
    assert "mine.toml" in said or not isinstance(text, str)


# Presets --------------------------------------------------------------------

def test_the_text_of_a_line_is_what_its_readers_know():
    line = Line("network", "torus", {"size": [4, 2], "G": 0.1 + 0.2})
    assert str(line) == "network torus size 4x2 G 0.3"
    line = Line("point", "node", 123456, 40000.0, 1234.56, digits=4)
    assert str(line) == "point node 123456 4e+04 1235"
    assert line == ("point", "node", 123456, 40000, 1235)


def test_there_are_the_presets_that_there_should_be():
    assert set(NETWORKS + SHAPES) <= set(models.names())
    assert {"free", "hockney", "loggps", "node", "two-level"} <= set(OTHERS)


@pytest.mark.parametrize("name", NETWORKS + OTHERS)
def test_every_preset_is_read_by_the_engine(name):
    model = models.load(name, nodes=8, ranks_per_node=4)
    found = check(model, 32)
    assert isinstance(found, dict), found
    assert (found["ranks"], found["nodes"]) == (32, 8)
    assert model.description
    kind = model.data.get("network", {}).get("kind")
    assert found["network"] == kind
    assert not kind or found["room"] >= 8


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("nodes", [1, 2, 16, 100])
def test_shapes_are_as_large_as_the_nodes_need(shape, nodes):
    found = check(models.load(f"edr+{shape}", nodes=nodes), nodes)
    assert found["room"] >= nodes
    assert found["network"] == shape.split("-valiant")[0].replace("-", "_")


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_without_a_network_says_what_to_do(shape):
    with pytest.raises(UserError, match=r"as in hdr200\+"):
        lines_of(models.load(shape), 4)


@pytest.mark.parametrize("name", NETWORKS)
def test_every_figure_has_a_source(name):
    """And every link all its keys: laid over another, nothing of that is
    left."""
    model = models.load(name)
    assert set(model.data["link"]["network"]) == {
        "o_send", "o_recv", "L", "g", "O_send", "O_recv", "G", "S"}
    assert set(model.data["network"]) == {"hop", "radix"}
    named = {key for keys in model.sources for key in keys.split(", ")}
    assert {"L", "G", "o", "g", "S", "hop"} <= named
    assert all(len(text) >= 8 for text in model.sources.values())


# A ping-pong's half through one switch, in us, and GB/s: as the sources say.
@pytest.mark.parametrize("name, us, speed", [
    ("fdr", 1.27, 6.318), ("edr", 0.90, 11.6), ("omnipath", 1.10, 12.38),
    ("slingshot11", 1.60, 24), ("aries", 1.20, 9.96),
    ("ethernet1", 24.6, 0.116), ("hdr200", 1.10, 24.5)])
@pytest.mark.parametrize("shape", ["", "+crossbar", "+fat-tree"])
def test_presets_give_what_was_measured(name, us, speed, shape):
    found = check(models.load(name + shape, nodes=2), 2)
    send, latency, transfer, _, receive, _ = costs(found, "network", 8)
    assert send + latency + transfer + receive == pytest.approx(
        1000 * us, rel=0.01)
    _, _, transfer, gap, _, _ = costs(found, "network", 1 << 24)
    assert (1 << 24) / transfer == pytest.approx(speed, rel=0.005)
    assert gap == transfer


def test_each_switch_more_costs_its_hop():
    model = models.load("hdr200-fat-tree", nodes=801)
    assert check(model, 801)["room"] == 20 * 20 * 40    # three levels
    assert "network fat_tree latency 130 " in "\n".join(lines_of(model, 801))
    assert "host_latency 65" in "\n".join(lines_of(model, 801))
    assert "L 570 " in "\n".join(lines_of(model, 801))


def test_free_is_free():
    found = check(models.load("free", nodes=2), 4)
    assert set(found["classes"]) == {"self", "domain", "network"}
    for rows in found["classes"].values():
        assert all(row[1:6] == [0] * 5 for row in rows)
    assert "free all" in lines_of(models.load("free"), 2)


def test_two_levels():
    found = check(models.load("two-level", nodes=2, ranks_per_node=4,
                              ranks_per_domain=2), 8)
    assert set(found["classes"]) == {"self", "domain", "node", "network"}
    latency = {kind: sum(costs(found, kind, 8)[:3])
               for kind in ("domain", "node", "network")}
    assert latency["domain"] < latency["node"] < latency["network"]


# Combination ----------------------------------------------------------------

def test_later_ones_override_earlier_ones():
    mine = toml('[link.network]\nL = "5 us"\n')
    data = models.load(["hdr200", mine]).data
    assert data["link"]["network"]["L"] == 5000
    assert data["link"]["network"]["o_send"] == 200
    assert models.load([mine, "hdr200"]).data["link"]["network"]["L"] == 700
    assert models.load(["aries", "edr"]).data["link"] == \
        models.load("edr").data["link"]
    assert models.load(["node", "edr"]).data == {
        **models.load("node+edr").data}
    assert models.load("node+edr").data["link"]["node"] == \
        models.load("node").data["link"]["node"]


def test_a_model_may_stand_on_others(tmp_path):
    (tmp_path / "sub").mkdir()
    toml('base = ["edr", "other.toml"]\ncpu_speed = 2\n', "sub/mine.toml")
    toml('[link.network]\ng = 7\n', "sub/other.toml")
    data = models.load("sub/mine.toml").data
    assert data["link"]["network"]["g"] == 7 and data["cpu_speed"] == 2
    assert data["link"]["network"]["L"] == 499 and "base" not in data
    toml('base = "mine.toml"', "mine.toml")
    with pytest.raises(UserError, match="each other's base"):
        models.load("mine.toml")


def test_tables_as_models():
    model = models.load(["hdr200", {"link": {"network": {"L": 1}},
                                    "collective": [{"op": "all",
                                                    "use": "free"}]}])
    assert model.data["link"]["network"]["L"] == 1
    assert model.names == ["hdr200", "given"]
    refused({"lonk": 1}, "unknown key lonk; did you mean link?")


def test_points_and_constants_do_not_mix():
    points = {"link": {"network": {"S": 100, "points": [[0, 1, 2, 3, 4]]}}}
    assert models.load(["edr", points]).data["link"]["network"] == {
        "S": 100, "points": [[0, 1, 2, 3, 4]]}
    assert "points" not in models.load([points, "edr"]).data["link"]["network"]
    assert models.load([points, {"link": {"network": {"S": 5}}}]).data[
        "link"]["network"] == {"S": 5, "points": [[0, 1, 2, 3, 4]]}
    found = check(models.load([{"link": {"all": {
        "points": [[0, 1, 2, 3, 4], [1024, 5, 6, 7, 8]]}}}]), 2)
    assert costs(found, "domain", 1024) == [5, 2, 4, 7, 8, False]


def test_times_of_one_sided_calls():
    """Of each memory; a later model replaces a table, and keeps the others."""
    first = toml("""
        [onesided.all]
        put = [[8, "0.2 us", 50], ["4 KiB", "1 us", 50]]
        lock = "0.3 us"
        unlock = 100
        [onesided.allocated]
        put = [[8, 20, 0]]
    """)
    def lines(*names):
        return [line for line in lines_of(models.load(list(names)), 2)
                if line.startswith(("access", "locks"))]

    assert lines(first) == [
        "access created put 8 200 50", "access created put 4096 1000 50",
        "locks created 300 100", "access allocated put 8 20 0",
        "locks allocated 300 100"]
    assert lines(first, {"onesided": {"created": {
        "put": [[8, 1, 2]], "fetch": [[8, 3, 4]]}}}) == [
            "access created put 8 1 2", "access created fetch 8 3 4",
            "locks created 300 100", "access allocated put 8 20 0",
            "locks allocated 300 100"]
    assert check(models.load(["node", first]), 2)["ranks"] == 2
    refused("[onesided.mine]\n", "unknown key onesided.mine; give one of "
            "created, allocated, all")
    refused("[onesided.created]\nputs = [[8, 1, 1]]\n",
            "unknown key onesided.created.puts; did you mean put?")
    refused("[onesided.created]\nput = [[8, 1]]\n",
            "onesided.created.put must be a list of rows [bytes, call, rest]")
    refused("[onesided.created]\nget = [[8, 1, 1], [8, 2, 2]]\n",
            "in the order of their bytes, each once")
    refused("[onesided.all]\nlock = 1\n",
            "onesided.all needs both lock and unlock, or neither")
    refused("onesided = 3\n", "onesided must be a table")


def test_blocks_that_are_given_away():
    """Within a node only; another link there knows other gives."""
    given = toml('[link.all]\nL = 5\ngiven = [["4 KiB", 1, 2, 3, 4]]\n')
    lines = lines_of(models.load(given), 2)
    assert [line for line in lines if line.startswith("given")] == [
        f"given {kind} 4096 1 2 3 4" for kind in ("self", "domain", "node")]
    assert isinstance(check(models.load(given), 2), dict)
    over = lines_of(models.load([given, {"link": {"node": {"L": 7}}}]), 2)
    assert "given node 4096 1 2 3 4" not in over
    assert "given domain 4096 1 2 3 4" in over
    refused("[link.network]\ngiven = [[8, 1, 2, 3, 4]]\n", "within a node only")
    refused("[link.node]\ngiven = [[8, 1]]\n", "must be a list of rows")


def test_a_shape_replaces_another():
    first = {"network": {"kind": "torus", "size": [4, 4], "hop": 100}}
    then = {"network": {"kind": "dragonfly"}}
    data = models.load(["edr", first, then]).data["network"]
    assert data == {"kind": "dragonfly", "hop": 100, "radix": 36}
    again = models.load(["edr", first, {"network": {"size": "8x2"}}])
    assert again.data["network"]["size"] == [8, 2]
    assert check(again, 1)["room"] == 16
    assert check(models.load(["edr", first, {"network": {"kind": "none"}}]),
                 4)["network"] is None


def test_options():
    model = models.load("edr", nodes=4, ranks_per_node=3, ranks_per_domain=2,
                        cpu_speed=1.5, noise={"period": "1 ms",
                                              "duration": "10 us", "seed": 9},
                        collective=[{"op": "bcast", "use": "free"}],
                        reduce=None)
    lines = lines_of(model, 12)
    assert lines[:2] == ["ranks 12", "place 3 2"]
    assert "noise 1000000 10000 9" in lines and "cpu_speed 1.5" in lines
    assert lines[-1] == "free bcast"
    assert isinstance(check(model, 12), dict)
    with pytest.raises(UserError, match="13 ranks do not fit on 4 nodes"):
        lines_of(model, 13)
    with pytest.raises(UserError, match="unknown key node; did you mean"):
        models.load("edr", node=4)


def test_places():
    def place(ranks, **options):
        lines = lines_of(models.load("edr", **options), ranks)
        return [line for line in lines if line.startswith("place")]
    assert place(12) == []
    assert place(12, nodes=5) == ["place 3 0"]
    assert place(2, ranks_per_node=8) == ["place 2 0"]
    assert place(12, ranks_per_domain=4) == ["place 12 4"]


def test_rules_of_collectives():
    rules = toml("""
        [[collective]]
        op = ["alltoall", "allreduce"]
        use = "scale"
        factor = 0.5
        [[collective]]
        op = "bcast"
        use = "messages"
        algorithm = "binomial"
        max_bytes = "64 KiB/n"
        [[collective]]
        op = "allreduce"
        use = "offload"
        posting = "0.3 us"
        round = 1000
        G = "10 GB/s"
        [[collective]]
        op = "barrier"
        use = "table"
        ranks = 8
        rows = [[0, "2 us", 1500]]
        [[collective]]
        op = "barrier"
        use = "measured"
    """)
    model = models.load(["edr", rules])
    assert lines_of(model, 4)[-6:] == [
        "scale alltoall 0.5", "scale allreduce 0.5",
        "messages bcast binomial 0 65536/n 0 4294967295",
        "offload allreduce 300 1000 0.1", "table barrier 8 0 2000 1500",
        "measured barrier"]
    assert isinstance(check(model, 4), dict)


@pytest.mark.parametrize("name", ["mpich-algorithms", "openmpi-algorithms"])
def test_the_hosts_choices_are_whole(name):
    """Some algorithm for every collective, size and number of ranks."""
    rules = [line.split() for line in lines_of(models.load(name), 1 << 20)
             if line.startswith("messages")]
    for op in OPERATIONS:
        for ranks in (2, 3, 7, 8, 13, 1 << 20):
            for size in (0, 255, 4096, 1 << 20, 1 << 40):
                assert any(rule[1] == op and (len(rule) == 3 or (
                    _limit(rule[3], ranks) <= size <= _limit(rule[4], ranks)
                    and int(rule[5]) <= ranks <= int(rule[6])))
                    for rule in rules), (op, ranks, size)


def _limit(text, ranks):
    return int(text[:-2]) / ranks if text.endswith("/n") else int(text)


def test_powers_of_two():
    model = models.load({"collective": [{
        "op": "barrier", "use": "formula", "algorithm": "dissemination",
        "powers_of_two": True, "min_ranks": 3, "max_ranks": 20}]})
    assert [line.split()[-2:] for line in lines_of(model, 4)[1:]] == [
        ["4", "4"], ["8", "8"], ["16", "16"]]
    assert isinstance(check(model, 4), dict)


def test_operations_are_the_engines():
    """The names are those of src/vtime/ops/op.h: the engine knows each."""
    for name in OPERATIONS:
        model = models.load({"collective": [{"op": name, "use": "free"}]})
        assert isinstance(check(model, 2), dict)


# Quantities -----------------------------------------------------------------

@pytest.mark.parametrize("value, ns", [
    (5, 5), (0.5, 0.5), ("5 ns", 5), ("1.5us", 1500), ("2 µs", 2000),
    ("3 ms", 3e6), ("1e-3 s", 1e6), ("0 s", 0)])
def test_times(value, ns):
    assert quantities.time(value) == pytest.approx(ns)


@pytest.mark.parametrize("value, ns", [
    (0.08, 0.08), ("0.08 ns/B", 0.08), ("12.5 GB/s", 0.08),
    ("100 Gbit/s", 0.08), ("100 Gb/s", 0.08), ("1 MiB/s", 1e9 / (1 << 20))])
def test_speeds(value, ns):
    assert quantities.speed(value) == pytest.approx(ns)


@pytest.mark.parametrize("value, count", [
    (4096, 4096), ("4 KiB", 4096), ("4 kB", 4000), ("64 bytes", 64),
    ("1.5 MiB", 3 << 19), (2.0, 2)])
def test_sizes(value, count):
    assert quantities.size(value) == count


@pytest.mark.parametrize("of, value", [
    (quantities.time, "5"), (quantities.time, "5 m"), (quantities.time, -1),
    (quantities.time, "-1 us"), (quantities.time, True),
    (quantities.time, float("nan")), (quantities.time, float("inf")),
    (quantities.time, "us"), (quantities.time, [1]), (quantities.time, 1e13),
    (quantities.speed, "5 us"), (quantities.speed, "0 GB/s"),
    (quantities.speed, "10 gb/s"), (quantities.speed, 1e10),
    (quantities.size, 1.5), (quantities.size, "4 K"), (quantities.size, -4),
    (quantities.size, 1 << 64), (quantities.size, "0.3 B")])
def test_what_is_no_quantity(of, value):
    with pytest.raises(quantities.Wrong):
        of(value)


# Errors ---------------------------------------------------------------------

@pytest.mark.parametrize("text, because", [
    ("[link", "no TOML: "), ("a = 1\na = 2\n", "no TOML: "),
    ("linkk = 1\n", "unknown key linkk; did you mean link?"),
    ("zzz = 1\n", "unknown key zzz; give one of description, base"),
    ("link = 3\n", "link must be a table of keys, not 3"),
    ("[link]\nnetwork = 3\n", "link.network must be a table"),
    ("[link.wire]\nL = 1\n", "unknown key link.wire; give one of self"),
    ("[link.nodes]\nL = 1\n", "did you mean node?"),
    ("[link.node]\nlatency = 1\n", "unknown key link.node.latency"),
    ('[link.node]\nL = "1 GB/s"\n',
     "link.node.L must be a time: a number of ns, or text like"),
    ('[link.node]\nG = "1 us"\n', "link.node.G must be a speed"),
    ('[link.node]\nG = "1 us"\n', "it is '1 us'"),
    ("[link.node]\nS = true\n", "link.node.S must be a size"),
    ("[link.node]\npoints = [[0, 1, 2]]\n",
     "points must be a list of rows [bytes, send, wire, gap, receive]"),
    ("[link.node]\npoints = [[8,1,1,1,1],[8,1,1,1,1]]\n", "order of their"),
    ("[link.node]\nL = 1\npoints = [[8,1,1,1,1]]\n", "which replace L"),
    ("nodes = 0\n", "nodes must be a whole number, at least 1; it is 0"),
    ("nodes = 2.5\n", "nodes must be a whole number"),
    ("cpu_speed = 0\n", "cpu_speed must be a factor"),
    ("cpu_speed = '2'\n", "cpu_speed must be a factor"),
    ("description = 4\n", "description must be text"),
    ("base = [1]\n", "base must be text, or a list of texts"),
    ('base = "edrr"\n', ""),
    ('[network]\nkind = "ring"\n',
     "network.kind must be a known network, not ring"),
    ('[network]\nkind = "fat_treee"\n', "did you mean fat_tree?"),
    ('[network]\nkind = "torus"\nlevels = 3\n',
     "a torus has no network.levels; it has"),
    ('[network]\nkind = "torus"\nsize = []\n', "one to eight numbers"),
    ('[network]\nkind = "torus"\nsize = "8xy"\n', "network.size must be"),
    ("[network]\nhopp = 3\n", "did you mean hop?"),
    ("[noise]\nperiod = 5000\n", "a period and a duration"),
    ("[noise]\nperiod = 5000\nduration = 5000\n", "below noise.period"),
    ("[noise]\nperiod = 50\nduration = 5\n", "at least 1 us"),
    ("[noise]\nperiod = 5000\nduration = 5\nseed = -1\n", "noise.seed"),
    ("[collective]\nop = 'all'\n", "[[collective]] tables"),
    ("[[collective]]\nop = 'all'\n", "collective 1: use must be one of free"),
    ("[[collective]]\nop = 'all'\nuse = 'scale'\n", "scale needs factor"),
    ("[[collective]]\nuse = 'free'\n", "free needs op"),
    ("[[collective]]\nop = 'alltoal'\nuse = 'free'\n",
     "not alltoal; did you mean alltoall?"),
    ("[[collective]]\nop = 'all'\nuse = 'free'\nfactor = 3\n",
     "unknown key collective 1: factor"),
    ("[sources]\nL = 3\n", "sources.L must be text"),
])
def test_what_is_wrong_is_said(text, because):
    if "edrr" in text:
        with pytest.raises(UserError, match="did you mean edr"):
            models.load(toml(text))
    else:
        refused(text, because)


_GOOD = {
    "description": "d", "nodes": 4, "ranks_per_node": 2, "cpu_speed": 1.5,
    "reduce": 1, "test": 2, "base": ["edr"],
    "link": {"all": {"o": 1, "L": "1 us", "G": "1 GB/s", "S": 8},
             "node": {"points": [[0, 1, 2, 3, 4], [8, 1, 2, 3, 4]]}},
    "network": {"kind": "torus", "size": [2, 2, 2], "hop": 5},
    "noise": {"period": "1 ms", "duration": 5, "seed": 2},
    "collective": [{"op": ["all"], "use": "scale", "factor": 2},
                   {"op": "bcast", "use": "table", "ranks": 4,
                    "rows": [[8, 1, 2]]}],
    "sources": {"all": "mine"},
}
_JUNK = [None, True, -1, 0, 1 << 70, 1.5, float("nan"), float("inf"), "",
         "x", "1 us", "1 GB/s", "0 B/s", [], [[]], [None], {}, {"L": 1},
         [{}], {"": {}}, [[1, 2, 3]], "1e999 s", "9" * 400, 10 ** 400]


def _damaged(value, chance):
    """The value with a part of it replaced."""
    if chance.random() < 0.15:
        return chance.choice(_JUNK)
    if isinstance(value, dict):
        key = chance.choice(list(value))
        return {**value, key: _damaged(value[key], chance)}
    if isinstance(value, list) and value:
        at = chance.randrange(len(value))
        return [*value[:at], _damaged(value[at], chance), *value[at + 1:]]
    return chance.choice(_JUNK)


def test_nothing_but_sentences_comes_of_damage():
    chance, good = random.Random(6), 0
    assert lines_of(models.load(_GOOD), 8)
    for _ in range(3000):
        table = _damaged(_GOOD, chance)
        if not isinstance(table, dict):
            continue
        try:
            lines_of(models.load(table), 8)
            good += 1
        except UserError as error:
            assert len(str(error)) > 20
    assert 100 < good < 2000


def test_unknown_models():
    with pytest.raises(UserError, match="hdr20; did you mean hdr200"):
        models.load("hdr20")
    with pytest.raises(UserError, match="one of aries, .*torus"):
        models.load("qqqqqq")
    with pytest.raises(UserError, match="No such file.*nowhere.toml"):
        models.load("nowhere.toml")
    with pytest.raises(UserError, match="no TOML"):
        with open("bytes.toml", "wb") as file:
            file.write(b"\xff\xfe\x00")
        models.load("bytes.toml")


def test_a_file_that_cannot_be_written(tmp_path):
    with pytest.raises(UserError, match="nowhere/model: No such file"):
        models.write(models.load("edr"), str(tmp_path / "nowhere/model"), 2)


def test_the_engine_names_the_line():
    model = models.load({"network": {"kind": "torus", "size": [2, 2],
                                     "latency": 5}, "ranks_per_node": 1})
    said = check(model, 5)
    assert re.search(r"model, line \d+: .* places for 4 nodes, and there are 5",
                     said)
    model = models.load({"collective": [{"op": "bcast", "use": "messages",
                                         "algorithm": "nonsense"}]})
    assert "line 2: " in check(model, 2)


def test_the_manual_has_every_preset_and_key():
    manual = (ROOT / "docs/models.md").read_text()
    for name in models.names():
        assert f"`{name}`" in manual, name
    for keys in (*KINDS.values(), ONESIDED, MEMORY):
        for key in keys:
            assert f"`{key}`" in manual, key


def test_the_old_name_of_the_package_serves_for_a_release():
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:straightway", "-c",
         "import warnings\n"
         "with warnings.catch_warnings(record=True) as told:\n"
         "    warnings.simplefilter('always')\n"
         "    from straightway import models as old\n"
         "    import straightway.models\n"
         "from straightway.whatif import models\n"
         "assert old.load is models.load, old\n"
         "assert ['straightway.whatif.models' in str(it.message)"
         " for it in told] == [True], told\n"], text=True,
        capture_output=True)
    assert done.returncode == 0, done.stderr


def test_a_class_without_a_link_takes_the_next_wider_one():
    where = {"nodes": 2, "ranks_per_node": 4, "ranks_per_domain": 2}

    def latencies(*given):
        links = {name: {"L": n + 1} for n, name in enumerate(given)}
        found = check(models.load({"link": links, **where}), 8)
        return [costs(found, kind, 8)[1]
                for kind in ("self", "domain", "node", "network")]

    assert latencies("node", "network") == [1, 1, 1, 2]
    assert latencies("network") == [1, 1, 1, 1]
    assert latencies("domain", "network") == [1, 1, 2, 2]
    points = {"link": {"node": {"points": [[0, 1, 2, 3, 4]]}}, **where}
    assert costs(check(models.load(points), 8), "domain", 8) == costs(
        check(models.load(points), 8), "node", 8)


def test_nodes_of_different_speeds():
    model = models.load({"link": {"all": {"L": 1}},
                         "node_speeds": [1, 0.5, 2]}, ranks_per_node=2)
    assert "node_speed 1 0.5" in lines_of(model, 6)
    assert isinstance(check(model, 6), dict)
    with pytest.raises(UserError, match="has 3 nodes, and 8 ranks are on 4"):
        lines_of(model, 8)
    refused("node_speeds = 2\n", "a list of factors, one for each node")
    refused("node_speeds = [1, 0]\n", "a factor from 1e-9 to 1e9")


def test_loggopsim_has_no_network():
    assert "loggopsim" in lines_of(models.load("loggps"), 2)
    assert isinstance(check(models.load("loggps"), 2), dict)
    assert "loggopsim" not in lines_of(models.load(
        ["loggps", {"loggopsim": False}]), 2)
    with pytest.raises(UserError, match=r"loggopsim = true has no \[network\]"):
        models.load("loggps+hdr200+fat-tree", nodes=2)
    refused("loggopsim = 1\n", "loggopsim must be true or false")
