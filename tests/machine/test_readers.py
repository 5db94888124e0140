"""Readers of machines: each description gives the same tree, and a wrong line
of any gives an error with its number and the remedy."""

import json

import pytest
from harness import machines
from straightway.errors import UserError
from straightway.machine import processors, tree
from straightway.machine.readers import (furnish, hostlist, hwloc,
                                         ibnetdiscover, saved, slurm, sysfs)
from straightway.reporters import topo_words


def sets(node):
    """What a tree says of processors, whatever its order."""
    return {(p.kind, p.level, p.number, p.cpus, p.size, p.memory)
            for p in node.walk() if p.kind != "node"}


@pytest.fixture(params=machines.ALL, ids=str)
def machine(request):
    return machines.ALL[request.param]


# hwloc and /sys ---------------------------------------------------------------

def test_lstopo_gives_what_the_machine_has(machine):
    node = hwloc.parse(machines.xml(machine), "alpha.xml")
    found, places = tree.counts(node), machine.places()
    assert node.name == "alpha"
    for kind, groups in places.items():
        assert found[kind] == len(groups), kind
        level = int(kind[1]) if kind[0] == "L" else 0
        assert [p.cpus for p in node.all("cache" if level else kind)
                if p.level == level] == groups
    assert found["thread"] == machine.count * machine.threads
    assert node.all("package")[0].name == "A processor"
    assert node.memory == machines.GIB * (
        16 * len(places["numa"]) + 8 * machine.far_memory)


def test_sys_gives_the_same_tree(machine, tmp_path):
    one = hwloc.parse(machines.xml(machine), "alpha.xml")
    other = sysfs.read(machines.sysfs(machine, tmp_path))
    assert sets(one) == sets(other)
    assert {(d.kind, d.name, d.address, place.title())
            for place in one.walk() for d in place.devices
            if d.kind != "memory"} == {
                (d.kind, d.name, d.address, place.title())
                for place in other.walk() for d in place.devices
                if d.kind != "memory"}


def test_what_hwloc_gathers_has_sys_inside(tmp_path):
    """hwloc-gather-topology node: node/sys, node/proc."""
    (tmp_path / "node").mkdir()
    machines.sysfs(machines.DESKTOP, tmp_path / "node" / "sys")
    found = sysfs.read(tmp_path / "node")
    assert found.name == "node"
    assert sets(found) == sets(sysfs.read(tmp_path / "node" / "sys"))


def test_old_systems_have_masks_in_place_of_lists(machine, tmp_path):
    root = machines.sysfs(machine, tmp_path)
    before = sysfs.read(root)
    for path in root.rglob("*_list"):
        cpus = processors.parse(path.read_text())
        name = path.name.replace("_list", "_map" if "shared" in path.name
                                 else "")
        path.with_name(name).write_text(machines.mask(cpus).replace(
            "0x", "") + "\n")
        path.unlink()
    assert sets(sysfs.read(root)) == sets(before)


def test_memory_without_processors_is_a_device(tmp_path):
    for node in (hwloc.parse(machines.xml(machines.DOMAINS), "x"),
                 sysfs.read(machines.sysfs(machines.DOMAINS, tmp_path))):
        (memory,) = [d for p in node.walk() for d in p.devices]
        assert (memory.kind, memory.name) == ("memory", "numa 8")
        assert memory.size == 8 * machines.GIB


def test_hwloc_1_has_memory_without_processors():
    """MCDRAM, and memory of GPUs, in the object around its processors."""
    text = machines.xml(machines.Machine(packages=2, cores=2)).replace(
        'version="2.0"', 'version="1.0"')
    at = text.index('<object type="L3Cache"')
    node = hwloc.parse(
        text[:at] + '<object type="NUMANode" os_index="7" cpuset="0x0" '
        'complete_cpuset="0x0" local_memory="4096"></object>\n'
        '<object type="NUMANode" os_index="8" cpuset="0x0" '
        'complete_cpuset="0xf0" local_memory="1"></object>\n'
        + text[at:], "x")
    (holder,) = [p for p in node.walk() if p.devices]
    assert holder.cpus == 0b11      # of the package, or of its innermost domain
    (memory,) = holder.devices
    assert (memory.kind, memory.name, memory.size) == ("memory", "numa 7", 4096)
    assert node.memory == hwloc.parse(text, "x").memory + 4096
    # Beside the Machine in place of in it: the node's.
    beside = hwloc.parse(text.replace("</topology>", (
        '<object type="NUMANode" os_index="7" cpuset="0x0" '
        'local_memory="4096"></object></topology>')), "x")
    assert [device.name for device in beside.devices] == ["numa 7"]


def test_this_machine_can_be_read():
    node = sysfs.read()
    assert node.all("thread") and node.all("core") and node.all("numa")
    if hwloc.tool():
        other = hwloc.ask(hwloc.tool())
        assert {(p.kind, p.level, p.cpus) for p in node.walk()} == {
            (p.kind, p.level, p.cpus) for p in other.walk()}


def _hybrid():
    """Two fast cores of two threads, and four slow ones."""
    text = machines.xml(machines.DOMAINS)
    node = hwloc.parse(text, "x")
    cores = node.all("core")
    fast = sum(core.cpus for core in cores[:2])
    return text, cores, fast, node.cpus & ~fast


def test_hwloc_tells_fast_cores_from_slow_ones(tmp_path):
    text, cores, fast, slow = _hybrid()
    assert not any(core.name for core in cores)
    kinds = [f'<cpukind cpuset="{machines.mask(cpus)}">'
             f'<info name="FrequencyMaxMHz" value="{mhz}"/>{more}'
             '</cpukind>' for cpus, mhz, more in (
                 (slow, 3700, ""), (fast, 5100, ""))]
    one = hwloc.parse(text.replace("</topology>", "".join(
        kinds) + "</topology>"), "x")
    assert [core.name for core in one.all("core")] == [
        "kind 1 5100 MHz"] * 2 + ["kind 0 3700 MHz"] * (len(cores) - 2)
    named = "".join(kinds).replace(
        "</cpukind>", '<info name="CoreType" value="IntelAtom"/></cpukind>',
        1).replace('value="5100"/>', 'value="5100"/><info name="CoreType" '
                   'value="IntelCore"/>')
    one = hwloc.parse(text.replace("</topology>", named + "</topology>"), "x")
    assert {core.name for core in one.all("core")} == {"IntelCore",
                                                       "IntelAtom"}
    assert f"(2 IntelCore, {len(cores) - 2} IntelAtom)" in \
        topo_words.summary(one)
    assert topo_words.core_sentences(one)[0] == (
        "IntelCore: cores 0-1, processors " + processors.text(fast))
    path = tmp_path / "saved.json"
    path.write_text(json.dumps({"schema": saved.SCHEMA,
                                "tree": saved.plain(one)}))
    assert saved.read(path).all("core")[0].name == "IntelCore"
    alike = hwloc.parse(text.replace("</topology>", kinds[0].replace(
        machines.mask(slow), machines.mask(slow | fast)) + "</topology>"), "x")
    assert not any(core.name for core in alike.all("core"))


@pytest.mark.parametrize("how", ["intel", "arm"])
def test_sysfs_tells_fast_cores_from_slow_ones(how, tmp_path):
    base = tmp_path / "devices/system/cpu"
    for cpu in range(4):
        topology = base / f"cpu{cpu}/topology"
        topology.mkdir(parents=True)
        (topology / "core_cpus_list").write_text(f"{cpu}\n")
        (topology / "package_cpus_list").write_text("0-3\n")
        if how == "arm":
            (base / f"cpu{cpu}/cpu_capacity").write_text(
                "1024\n" if cpu < 1 else "446\n")
    (base / "online").write_text("0-3\n")
    for unit, cpus in (("core", "0"), ("atom", "1-3")) * (how == "intel"):
        (tmp_path / f"devices/cpu_{unit}").mkdir()
        (tmp_path / f"devices/cpu_{unit}/cpus").write_text(cpus + "\n")
    names = [core.name for core in sysfs.read(tmp_path).all("core")]
    assert names == (["performance"] + ["efficiency"] * 3 if how == "intel"
                     else ["capacity 1024"] + ["capacity 446"] * 3)


def test_hwloc_1_and_3_name_things_otherwise():
    text = machines.xml(machines.GPUS)
    old = text.replace('"Package"', '"Socket"').replace(
        'type="L3Cache"', 'type="Cache"').replace(
        'type="L2Cache"', 'type="Cache"').replace(
        'version="2.0"', 'version="1.0"')
    new = text.replace('version="2.0"', 'version="3.0"').replace(
        'osdev_type="5"', 'osdev_type="12"').replace(
        'osdev_type="3"', 'osdev_type="48"')
    assert old != text != new
    want = hwloc.parse(text, "x")
    assert hwloc.parse(old, "x") == want == hwloc.parse(new, "x")


def test_what_nobody_may_use_and_virtual_functions_are_left_out():
    text = machines.xml(machines.GPUS).replace("</topology>", "")
    text = text.rpartition("</object>")[0]
    text += ('<object type="Package" os_index="9" cpuset="0x0"></object>\n'
             '<object type="PCIDev" pci_busid="0000:42:00.1" '
             'pci_type="0207 [15b3:101c] [15b3:0007] 00"></object>\n'
             "</object></topology>")
    assert hwloc.parse(text, "x") == hwloc.parse(machines.xml(machines.GPUS),
                                                 "x")


@pytest.mark.parametrize("old, new, at, what", [
    ("</topology>", "", "", "no XML"),
    ('"0x00000001"', '"0xf...f"', '"0xf...f"', "set of processors"),
    ('type="Core" os_index="0"', 'type="Core" os_index="x"',
     'os_index="x"', "is no number"),
    ('<object type="Machine"', '<object', "<object os_index",
     "an object without type"),
    ('type="Machine"', 'type="Misc"', 'type="Package"', "outside a Machine"),
    ('<topology version="2.0">', "<svg>", "<svg>",
     "<svg> outside <topology>"),
    ('type="Core" os_index="0" cpuset="0x00000001"',
     'type="Core" os_index="0"', 'type="Core"', "Core without cpuset"),
    ('type="L3Cache" os_index="0" cpuset="0x00000003"',
     'type="L3Cache" os_index="0" cpuset="0x00000006"', 'type="L3Cache"',
     "overlap"),
    ('type="PU"', 'type="Group"', "", "no PU")])
def test_a_wrong_line_of_xml_is_named(tmp_path, old, new, at, what):
    text = machines.xml(machines.Machine(packages=2, cores=2))
    assert old in text
    path, text = tmp_path / "node.xml", text.replace(old, new)
    path.write_text(text)
    with pytest.raises(UserError) as error:
        hwloc.read(path)
    line = text[:text.index(at)].count("\n") + 1 if at else \
        text.count("\n") + 1
    assert str(error.value).startswith(f"{path}, line {line}: ")
    assert what in str(error.value) and "lstopo --of xml" in str(error.value)


def test_a_wrong_table_of_sys_is_named(tmp_path):
    root = machines.sysfs(machines.DESKTOP, tmp_path)
    path = root / "devices/system/cpu/cpu2/topology/core_cpus_list"
    path.write_text("two\n")
    with pytest.raises(UserError, match="core_cpus_list: line 1.*two"):
        sysfs.read(root)
    path.write_text("2-3\n")
    with pytest.raises(UserError, match="contradict"):
        sysfs.read(root)
    with pytest.raises(UserError, match="no devices/system/cpu"):
        sysfs.read(tmp_path / "devices")


# JSON -------------------------------------------------------------------------

def test_a_saved_tree_is_the_same(machine, tmp_path):
    node = hwloc.parse(machines.xml(machine), "x")
    assert saved.tree(json.loads(json.dumps(saved.plain(node)))) == node
    network = furnish(conf(tmp_path, "SwitchName=s Nodes=n[1-3]"), node)
    plain = saved.plain(network)
    assert [part.get("like") for part in plain["parts"]] == [None, 0, 0]
    assert saved.tree(plain) == network


@pytest.mark.parametrize("change, what", [
    (lambda data: data.update(schema="other"), "schema is not"),
    (lambda data: data["tree"].update(kind="shelf"), "tree: no object with"),
    (lambda data: data["tree"].update(number="1"), "tree.number"),
    (lambda data: data["tree"]["parts"][0].update(cpus="x"),
     r"tree.parts\[0\].cpus"),
    (lambda data: data["tree"].update(like=7), "tree.like"),
    (lambda data: data["tree"].update(devices=[{"kind": "gpu"}]), "name")])
def test_a_wrong_member_of_json_is_named(tmp_path, change, what):
    path = tmp_path / "machine.json"
    data = {"schema": saved.SCHEMA, "tree": saved.plain(hwloc.parse(
        machines.xml(machines.DESKTOP), "x"))}
    path.write_text(json.dumps(data))
    assert saved.read(path).all("core")
    change(data)
    path.write_text(json.dumps(data))
    with pytest.raises(UserError, match=what):
        saved.read(path)
    path.write_text("{\n\n nothing")
    with pytest.raises(UserError, match="line 3: no JSON"):
        saved.read(path)


# Lists of names -------------------------------------------------------------

@pytest.mark.parametrize("text, names", [
    ("a", "a"), ("n[1-3]", "n1 n2 n3"), ("n[08-10]", "n08 n09 n10"),
    ("n[1,3],gpu2", "n1 n3 gpu2"), ("r[1-2]n[1-2]", "r1n1 r1n2 r2n1 r2n2"),
    ("c0-[0-1]", "c0-0 c0-1"),
    ("frontier[00001-00003,09408]",
     "frontier00001 frontier00002 frontier00003 frontier09408"),
    ("n[9999-10001]", "n9999 n10000 n10001")])
def test_a_list_of_names(text, names):
    assert hostlist.expand(text) == names.split()
    assert hostlist.expand(hostlist.fold(names.split())) == names.split()
    if not text.startswith("r["):           # it folds the last number alone
        assert hostlist.fold(names.split()) == text


def test_guids_are_no_names_with_numbers():
    names = ["H-0002c90300001230", "H-0002c90300001231"]
    assert hostlist.fold(names) == ",".join(names)


@pytest.mark.parametrize("text", ["", "n[1-", "n]", "n[3-1]", "n[a-b]",
                                  "n[1-9999999999]", "two words", "a,,b"])
def test_a_wrong_list_of_names_is_refused(text):
    with pytest.raises(ValueError):
        hostlist.expand(text)


# Slurm ------------------------------------------------------------------------

def conf(folder, text, name="topology.conf"):
    path = folder / name
    path.write_text(text)
    return slurm.read(path)


def shape(place):
    return [place.name, *map(shape, place.parts)] if place.parts else \
        place.name


TREE = ["top", ["s1", "n1", "n2"], ["s2", "n3", "n4"]]


def test_topology_conf(tmp_path):
    found = conf(tmp_path, "# a cluster\n\nswitchname=s1 nodes=n[1-2]\n"
                 "SwitchName=s2 Nodes=n[3-4] LinkSpeed=100\n"
                 "SwitchName=top \\\n  Switches=s[1-2]   # both\n")
    assert shape(found) == TREE and found.kind == "cluster"
    assert [n.number for n in found.all("node")] == [0, 1, 2, 3]
    blocks = conf(tmp_path, "BlockName=b1 Nodes=n[1-2]\n"
                  "BlockName=b2 Nodes=n[3-4]\nBlockSizes=2,4\n")
    assert shape(blocks) == ["", ["b1", "n1", "n2"], ["b2", "n3", "n4"]]
    rings = conf(tmp_path, "RingName=r1 Nodes=n[1-2]\nRingName=r2 Nodes=n3\n")
    assert shape(rings) == ["", ["r1", "n1", "n2"], ["r2", "n3"]]


def test_leaves_below_several_spines(tmp_path):
    """The second example of Slurm's topology guide, a fat tree without a top:
    spines side by side are one place."""
    found = conf(tmp_path, "".join(
        f"SwitchName=s{i} Nodes=tux[{4 * i}-{4 * i + 3}]\n" for i in range(4))
        + "SwitchName=s4 Switches=s[0-1]\nSwitchName=s5 Switches=s[1-2]\n"
        "SwitchName=s6 Switches=s[2-3]\n")
    assert shape(found) == ["s[4-6]", *(
        [f"s{i}", *(f"tux{4 * i + j}" for j in range(4))] for i in range(4))]


def test_the_output_of_scontrol(tmp_path):
    """scontrol show topology: a switch's nodes are those of all below it."""
    found = conf(tmp_path, "SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[1-2]\n"
                 "SwitchName=s2 Level=0 LinkSpeed=1 Nodes=n[3-4]\n"
                 "SwitchName=top Level=1 LinkSpeed=1 Nodes=n[1-4] "
                 "Switches=s[1-2]\n", "topology.txt")
    assert shape(found) == TREE
    blocks = conf(tmp_path, "BlockName=b1 BlockIndex=0 Nodes=n[1-2] "
                  "BlockSize=2\nBlockName=b2 BlockIndex=1 Nodes=n[3-4] "
                  "BlockSize=2\nAggregatedBlock=b[1-2] BlockIndex=2 "
                  "Nodes=n[1-4] BlockSize=4\n", "topology.txt")
    assert shape(blocks) == ["", ["b1", "n1", "n2"], ["b2", "n3", "n4"]]
    ring = conf(tmp_path, "RingName=r1 Nodes=n[1-2] RingSize=2\n", "t.txt")
    assert shape(ring) == ["r1", "n1", "n2"]


def test_quoted_values(tmp_path):
    found = conf(tmp_path, 'SwitchName="s1" Nodes="n1, n2"\n'
                 "SwitchName='s2' Nodes='n[3-4]' LinkSpeed=\"100 Gb\"\n"
                 'SwitchName=top Switches="s1,s2"\n')
    assert shape(found) == TREE


YAML = """---
# Slurm takes the default topology.
- topology: flat
  flat: true
- topology: fabric
  cluster_default: true
  tree:
    switches:
    - switch: top
      children: s[1-2]
    - switch: s1
      nodes: n[1-2]   # two
    - switch: "s2"
      nodes: [n3, 'n4']
- topology: blocks
  block:
    block_sizes:
      - 2
      - 4
    blocks:
      - block: b1
        nodes: n[1-4]
"""


def test_topology_yaml(tmp_path):
    assert shape(conf(tmp_path, YAML, "topology.yaml")) == TREE
    # The manual's own example has capitals, and defaults that are False.
    text = YAML.replace("  flat: true",
                        "  cluster_default: False\n  flat: True")
    text = text.replace("cluster_default: true", "cluster_default: True")
    assert shape(conf(tmp_path, text, "topology.yaml")) == TREE
    text = YAML.replace("cluster_default: true", "cluster_default: false")
    blocks = text[:text.index("- topology: flat")] + \
        text[text.index("- topology: blocks"):]
    assert shape(conf(tmp_path, blocks, "t.yaml")) == ["b1", "n1", "n2", "n3",
                                                      "n4"]
    with pytest.raises(UserError, match="flat is neither.*--topology: fabric"):
        conf(tmp_path, text, "topology.yaml")


def test_the_user_chooses_a_topology(tmp_path):
    path = tmp_path / "topology.yaml"
    path.write_text(YAML)
    assert shape(slurm.read(str(path), "fabric")) == TREE
    assert shape(slurm.read(str(path), "blocks")) == ["b1", "n1", "n2", "n3",
                                                      "n4"]
    with pytest.raises(UserError, match="no such topology; did you mean fab"):
        slurm.read(str(path), "fabrik")
    conf_path = tmp_path / "topology.conf"
    conf_path.write_text("SwitchName=a Nodes=n1\n")
    with pytest.raises(UserError, match="has one topology"):
        slurm.read(str(conf_path), "a")


def test_a_mapping_in_braces_counts_only_where_it_is_asked_for(tmp_path):
    text = YAML + ("- topology: other\n  block: {block_sizes: [2],\n"
                   "    blocks: [{block: b9, nodes: n9}]}\n")
    path = tmp_path / "topology.yaml"
    path.write_text(text)
    assert shape(slurm.read(str(path))) == TREE
    with pytest.raises(UserError, match="line 24: a mapping in braces"):
        slurm.read(str(path), "other")


@pytest.mark.parametrize("name, text, line, what", [
    ("t.conf", "SwitchName=a Nodes=n[1-2\n", 1, "bracket is not closed"),
    ("t.conf", "\nSwitch=a Nodes=n1\n", 2, "did you mean switch"),
    ("t.conf", "SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n", 2, "twice"),
    ("t.conf", "SwitchName=a Nodes=n1\nSwitchName=b Switches=c\n", 2,
     "which no line describes"),
    ("t.conf", "SwitchName=a Switches=b\nSwitchName=b Switches=a\n", 1,
     "below another"),
    ("t.conf", "SwitchName=a Nodes=n1\nSwitchName=b Nodes=n1\n", 2,
     "node n1 is at a and at b"),
    ("t.conf", "SwitchName=t Switches=a,b\nSwitchName=a Nodes=n1\n"
     "SwitchName=b Switches=a\n", 1, "b is below t, and both are above"),
    ("t.conf", "SwitchName=a Switches=a\n", 1, "a is below itself"),
    ("t.conf", "SwitchName=a Nodes=n1 Colour=red\n", 1, "Colour=red: not"),
    ("t.conf", "Nodes=n1\n", 1, "neither SwitchName="),
    ("t.conf", "\n# nothing\n", 1, "no line has"),
    ("t.conf", "SwitchName=a\n", 1, "no switch has nodes"),
    ("t.yaml", "", 1, "no contents"),
    ("t.yaml", "topology: a\n", 1, "give a list of topologies"),
    ("t.yaml", YAML.replace("nodes: n[1-2]", "nodes: n[1-"), 11,
     "bracket is not closed"),
    ("t.yaml", YAML.replace("  tree:", "\ttree:"), 7, "a tab"),
    ("t.yaml", YAML.replace("children: s[1-2]", "children: &x s1"), 10,
     "an anchor is not read"),
    ("t.yaml", YAML.replace("'n4']", "'n4'"), 14, "not closed"),
    ("t.yaml", YAML.replace('switch: "s2"', "name: s2"), 13,
     "without switch"),
    ("t.yaml", YAML.replace("    - switch: s1\n      nodes", "    nodes"), 12,
     "indented otherwise"),
    ("t.yaml", YAML.replace("  flat: true", "  topology: b"), 4, "twice")])
def test_a_wrong_line_of_slurm_is_named(tmp_path, name, text, line, what):
    with pytest.raises(UserError) as error:
        conf(tmp_path, text, name)
    assert f"{name}, line {line}: " in str(error.value)
    assert what in str(error.value) and "\n  see " in str(error.value)


# ibnetdiscover --------------------------------------------------------------

def fabric(*links, names=None):
    """The output for these links, (one, other): a name that begins with a
    letter n is an adapter's. `names`: descriptions."""
    ends, ports = {}, {}
    for one, other in links:
        for a, b in ((one, other), (other, one)):
            ports[a, b] = len(ends.setdefault(a, [])) + 1
            ends[a].append(b)

    def guid(name):
        return ("H" if name[0] == "n" else "S") + "-" + \
            name.encode().hex().rjust(16, "0")

    lines = ["#", "# Topology file: generated on a day", "#"]
    for end, others in ends.items():
        kind = "Ca" if end[0] == "n" else "Switch"
        name = (names or {}).get(end, f"{end} HCA-1" if kind == "Ca" else end)
        lines += ["", "vendid=0x2c9", f"{kind.lower()}guid=0x1(1)",
                  f'{kind}\t{len(others)} "{guid(end)}"\t\t# "{name}" lid 1']
        lines += [f'[{ports[end, other]}]{"(abc)" * (kind == "Ca")}\t'
                  f'"{guid(other)}"[{ports[other, end]}]\t\t# "x" lid 2 4xEDR'
                  for other in others]
    return "\n".join(lines) + "\n"


def leaves(*switches, above=("t1", "t2"), nodes=2):
    number = 0
    for switch in switches:
        for _ in range(nodes):
            number += 1
            yield f"n{switch}{number}", switch
        for top in above:
            yield switch, top


def network(folder, text):
    path = folder / "net.txt"
    path.write_text(text)
    return ibnetdiscover.read(path)


def test_a_fat_tree_of_two_levels(tmp_path):
    found = network(tmp_path, fabric(*leaves("a", "b", "c")))
    assert shape(found) == ["2 switches", ["a", "na1", "na2"],
                            ["b", "nb3", "nb4"], ["c", "nc5", "nc6"]]


def test_a_fat_tree_of_three_levels_has_pods(tmp_path):
    found = network(tmp_path, fabric(
        *leaves("a", "b", above=("p",)), *leaves("c", "d", above=("q", "r")),
        ("p", "t"), ("q", "t"), ("r", "t")))
    assert shape(found) == [
        "t", ["p", ["a", "na1", "na2"], ["b", "nb3", "nb4"]],
        ["2 switches", ["c", "nc1", "nc2"], ["d", "nd3", "nd4"]]]


def test_a_ring_of_switches_is_one_group(tmp_path):
    found = network(tmp_path, fabric(
        *leaves("a", "b", "c", above=(), nodes=1), ("a", "b"), ("b", "c"),
        ("c", "a")))
    assert [part.name for part in found.parts] == ["a", "b", "c"]


def test_nodes_have_the_names_that_descriptions_have(tmp_path):
    links = list(leaves("a", "b", above=("t",)))
    text = fabric(*links, names={
        "na1": "alpha mlx5_0", "na2": "alpha mlx5_1", "nb3": "MT4 Product X",
        "nb4": "Mellanox Technologies Aggregation Node", "a": "Switch IB",
        "b": "Switch IB"})
    found = network(tmp_path, text)
    assert [node.name for node in found.all("node")] == ["alpha"]
    left, rails = found.notes
    assert left.startswith("1 adapter whose description names no host left "
                           'out, the first "MT4 Product X"')
    assert "mlx5_0 1, mlx5_1 1" in rails
    (tmp_path / "net.txt").write_text(text)
    one, other = ibnetdiscover.read(tmp_path / "net.txt", "*").parts
    assert shape(one)[1:] == ["alpha"]
    assert [n.name[:2] for n in other.parts] == ["H-"]
    assert one.name != other.name       # by their GUIDs


def test_adapters_without_any_hosts_name_are_nodes(tmp_path):
    found = network(tmp_path, fabric(
        *leaves("a", "b"), names=dict.fromkeys(
            ("na1", "na2", "nb3", "nb4"), "MT4 Product X")))
    assert len(found.all("node")) == 4
    assert found.notes == ["Nodes have the GUIDs of adapters whose description "
                           "names no host."]


def test_the_user_chooses_adapters(tmp_path):
    """Two rails: each node is at a switch of either."""
    text = fabric(("n1", "a"), ("n2", "b"), ("n3", "a"), ("n4", "b"),
                  ("n5", "b"), names={
                      "n1": "x mlx5_0", "n2": "x mlx5_1", "n3": "y mlx5_0",
                      "n4": "y mlx5_1", "n5": "ufm HCA-1"})
    whole = network(tmp_path, text)
    assert shape(whole) == ["", ["a", "x", "y"], ["b", "ufm"]]
    path = tmp_path / "net.txt"
    rail = ibnetdiscover.read(path, "* mlx5_1")
    assert shape(rail) == ["b", "x", "y"]
    assert rail.notes == ["3 adapters other than * mlx5_1 left out."]
    with pytest.raises(UserError, match='none of 5 adapters is so; one is "x'):
        ibnetdiscover.read(path, "mlx5_9")


def test_lines_of_errors_are_passed_over_and_counted(tmp_path):
    text = fabric(("n1", "a"), ("n2", "a")).replace("\n\nvendid", """
ibwarn: [4711] _do_madrpc: recv failed: Connection timed out
src/query_smp.c:229; umad (DR path slid 0; dlid 0; 0,1,4) bad status 110
ibwarn: [4711] mad_rpc: _do_madrpc failed; dport (Lid 7)

vendid""", 1)
    found = network(tmp_path, text)
    assert shape(found) == ["a", "n1", "n2"]
    assert found.notes[0].startswith("3 lines of errors passed over")


@pytest.mark.parametrize("change, line, what", [
    (lambda t: t.replace("vendid=0x2c9", "\nwhat is this", 1), 6, "not known"),
    (lambda t: t[t.index("[1]"):], 1, "a link of no switch"),
    (lambda t: t + t[t.rindex("Switch"):], 20, "is here twice"),
    (lambda t: t.replace("Ca\t", "Switch\t"), 1, "no adapter"),
    (lambda t: t[:t.rindex("\nvendid")], 14, "does not describe"),
    (lambda t: "", 1, "no adapter")])
def test_a_wrong_line_of_ibnetdiscover_is_named(tmp_path, change, line, what):
    text = fabric(("n1", "a"), ("n2", "a"))
    with pytest.raises(UserError) as error:
        network(tmp_path, change(text))
    assert f"net.txt, line {line}: " in str(error.value)
    assert what in str(error.value) and "ibnetdiscover" in str(error.value)


def test_a_missing_file_and_bytes_are_refused(tmp_path):
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\0")
    for reader in (hwloc.read, saved.read, slurm.read, ibnetdiscover.read):
        with pytest.raises(UserError, match="No such file"):
            reader(tmp_path / "nothing")
        with pytest.raises(UserError, match="no text"):
            reader(tmp_path / "bytes")
