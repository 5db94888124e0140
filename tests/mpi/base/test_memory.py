"""The memory that ranks share: descriptors that the program uses anew, pages
of another size, core dumps."""

import re
import resource
import shutil
import struct
from pathlib import Path

import pytest
from harness import patience
from harness.programs import run, source, well

MIB = 1 << 20


def test_a_program_may_use_our_descriptors_anew(host):
    done = well(run(host, 2, "descriptors"))
    assert int(re.search(r"(\d+) descriptors", done.stdout)[1]) >= 2


def test_pages_of_another_size_are_refused_aloud(host):
    """Refusing the door `page` makes them 64 KiB."""
    done = well(run(host, 2, "descriptors",
                    env={"STRAIGHTWAY_REFUSE": "page"}))
    assert done.stderr.count("pages are of 64 KiB") == 1


def dumped(path):
    """Bytes of each mapped file in a core dump, by the file's name; those of
    anonymous memory by ''."""
    data = path.read_bytes()
    at, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    loads, names = [], []
    for i in range(count):
        kind, _, offset, start, _, filed, _, _ = struct.unpack_from(
            "<IIQQQQQQ", data, at + i * size)
        if kind == 1:                                   # PT_LOAD
            loads.append((start, filed))
        elif kind == 4:                                 # PT_NOTE
            note, end = offset, offset + filed
            while note < end:
                named, held, which = struct.unpack_from("<III", data, note)
                body = note + 12 + (named + 3) // 4 * 4
                if which == 0x46494c45:                 # NT_FILE
                    n, _ = struct.unpack_from("<QQ", data, body)
                    places = [struct.unpack_from("<QQQ", data,
                                                 body + 16 + 24 * k)
                              for k in range(n)]
                    texts = data[body + 16 + 24 * n:body + held].split(b"\0")
                    names += [(low, high, text.decode()) for
                              (low, high, _), text in zip(places, texts)]
                note = body + (held + 3) // 4 * 4
    sums = {}
    for start, filed in loads:
        name = next((text for low, high, text in names if low <= start < high),
                    "")
        sums[name] = sums.get(name, 0) + filed
    return sums


def test_a_core_dump_holds_what_is_used_and_no_more(host, tmp_path):
    pattern = Path("/proc/sys/kernel/core_pattern").read_text().strip()
    if pattern.startswith(("|", "/")):
        pytest.skip(f"core dumps go elsewhere here (core_pattern {pattern})")
    if resource.getrlimit(resource.RLIMIT_CORE)[1] == 0:
        pytest.skip("core dumps are forbidden here (ulimit -H -c)")
    # Bounded, so that a dump of all of it does not fill the machine.
    program = host.compile(source("core.c"), "-g", "-lm", "-lpthread", "-ldl")
    done = host.run(2, [program, tmp_path], env={
        "STRAIGHTWAY_STATS": "1", "STRAIGHTWAY_POOL_SIZE": "256m",
        "STRAIGHTWAY_ARENA_SIZE": "1g"})
    assert done.returncode
    core, = tmp_path.iterdir()
    sums = dumped(core)
    arena = sum(n for name, n in sums.items() if name.startswith(
        "/memfd:straightway") and "control" not in name)
    pool = sum(n for name, n in sums.items() if "straightway-control" in name)
    # Two blocks of 16 MiB, what is kept for reuse, the host's own blocks.
    assert 32 * MIB <= arena <= 320 * MIB, sums
    assert pool == 0, sums

    if not shutil.which("gdb"):
        pytest.skip("no gdb here (apt-get install gdb)")
    shown = patience.run(
        ["gdb", "-batch", "-nx", "-ex", "bt", "-ex", "print core_globals",
         "-ex", "print core_block[1000]", "-ex", "print core_block[2097151]",
         program, core],
        text=True, capture_output=True, timeout=120).stdout
    assert re.search(r"crash_here .*\n(.*\n)*?#\d+ +\S+ in main ", shown), shown
    assert "globals are there" in shown, shown
    assert "$2 = 16008\n$3 = 33554424\n" in shown, shown
