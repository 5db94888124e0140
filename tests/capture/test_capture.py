"""Capture files: what is written is read, and damage costs what it hits."""

import os
import random
import struct
import zlib

import pytest
from harness import captures
from straightway import files, profile
from straightway.capture import file as capture
from straightway.errors import UserError


@pytest.fixture
def path(tmp_path):
    return captures.halo(4).write(tmp_path / "a.swcap")


def pieces(path):
    """Header, and the blocks with theirs."""
    raw = open(path, "rb").read()
    found, at = [], 16
    while at < len(raw):
        length = struct.unpack_from("<Q", raw, at + 8)[0]
        found.append(raw[at:at + 24 + length])
        at += 24 + length
    return raw[:16], found


def block(kind, rank, payload):
    return struct.pack("<4sIQII", kind, zlib.crc32(payload), len(payload),
                       rank, 0) + payload


def put(path, *parts):
    with open(path, "wb") as file:
        file.write(b"".join(parts))
    return path


# Reading what was written -------------------------------------------------

def test_columns_come_back_as_they_were(tmp_path):
    columns = {"a": [0, 0, 0], "b": [1, 255, 3], "c": [256, 1, 65535],
               "d": [65536, 0, 2 ** 32 - 1], "e": [2 ** 32, 7, 2 ** 64 - 1]}
    header, tables, wrong = capture.unpack(
        capture.pack({"x": 1}, {"t": columns, "none": {"a": []}}))
    assert wrong is None and header["x"] == 1
    assert {name: list(tables["t"][name]) for name in columns} == columns
    assert header["tables"][0]["columns"] == [
        ["a", 0], ["b", 1], ["c", 2], ["d", 4], ["e", 8]]
    assert len(tables["none"]) == 0


def test_the_file_is_as_the_page_says(tmp_path):
    path = captures.Job(1).write(tmp_path / "a.swcap")
    raw = open(path, "rb").read()
    assert raw[:16] == bytes.fromhex("89535743 41500d0a 01000000 00000000")
    kind, crc, length, rank, zero = struct.unpack_from("<4sIQII", raw, 16)
    assert (kind, rank, zero) == (b"RANK", 0, 0)
    assert len(raw) == 40 + length and zlib.crc32(raw[40:]) == crc


def test_a_column_that_is_not_there_is_zero(path):
    calls = capture.read(path).ranks[0].table("calls")
    assert list(calls["not such a column"]) == [0] * len(calls)


def test_a_table_that_is_not_there_is_empty(tmp_path):
    payload = capture.pack({"rank": 0, "job": {"ranks": 1}})
    path = put(tmp_path / "a.swcap", b"\x89SWCAP\r\n", b"\1\0\0\0\0\0\0\0",
               block(b"RANK", 0, payload))
    p = profile.load(path)
    assert p.records == [] and p.problems == [] and p.matrix() == {}


def test_of_two_blocks_the_later_counts(path):
    head, blocks = pieces(path)
    job = captures.Job(4)
    job.ranks[2].header["node"] = "later"
    put(path, head, *blocks, block(b"RANK", 2, job.ranks[2].payload()))
    found = capture.read(path)
    assert [r.number for r in found.ranks] == [0, 1, 2, 3]
    assert found.ranks[2].node == "later"


def test_symbols_are_found_by_module_and_offset(path):
    found = capture.read(path)
    assert found.named
    assert set(found.native_frames()) == set(found.symbols)


# Damage -------------------------------------------------------------------

def test_a_wrong_checksum_costs_its_block(path):
    head, blocks = pieces(path)
    bad = bytearray(blocks[1])
    bad[100] ^= 1
    found = capture.read(put(path, head, blocks[0], bad, *blocks[2:]))
    assert [r.number for r in found.ranks] == [0, 2, 3]
    assert found.problems == ["A block of rank 1 is damaged (its checksum is "
                              "wrong) and is left out."]


def test_a_wrong_length_costs_its_block(path):
    head, blocks = pieces(path)
    bad = bytearray(blocks[1])
    bad[8:16] = struct.pack("<Q", 2 ** 60)
    found = capture.read(put(path, head, blocks[0], bad, *blocks[2:]))
    assert [r.number for r in found.ranks] == [0, 2, 3]
    assert len(found.problems) == 1 and found.named


def test_a_cut_tail_costs_the_last_block(path):
    head, blocks = pieces(path)
    found = capture.read(put(path, head, *blocks[:3], blocks[3][:-9]))
    assert [r.number for r in found.ranks] == [0, 1, 2]
    assert "ends within a block of rank 3" in found.problems[0]


def test_an_unknown_kind_is_skipped_and_told(path):
    head, blocks = pieces(path)
    found = capture.read(put(path, head, block(b"NEWS", 1, b"abc"), *blocks))
    assert len(found.ranks) == 4
    assert "unknown kind" in found.problems[0]


@pytest.mark.parametrize("rows", [2 ** 60, 2 ** 33, -1, "many", None, 1.5])
def test_rows_are_not_believed(tmp_path, rows):
    payload = capture.pack({
        "rank": 0, "job": {"ranks": 1}, "tables": [
            {"name": "calls", "rows": rows, "columns": [["time", 0]]}]})
    path = put(tmp_path / "a.swcap", b"\x89SWCAP\r\n", b"\1\0\0\0\0\0\0\0",
               block(b"RANK", 0, payload))
    p = profile.load(path)
    assert p.records == []
    assert "table calls claims" in p.problems[0]


def test_hostile_headers_do_not_allocate(tmp_path):
    job = captures.Job(4)
    job.header["ranks"] = 2 ** 60
    rank = job.ranks[0]
    rank.header["communicators"][1].update(size=2 ** 60,
                                           members=[[0, 2 ** 60]])
    rank.call("MPI_Bcast", 1, 5, size=2 ** 60, root=2 ** 40)
    p = profile.load(job.write(tmp_path / "a.swcap"))
    assert p.missing.count == 2 ** 60 - 4
    assert p.communicators[0].world_rank(2 ** 40) == 2 ** 40


def test_texts_cannot_steer_the_terminal(tmp_path):
    job = captures.Job(1, program="/opt/\x1b[31mapp\ud800")
    assert profile.load(job.write(tmp_path / "a.swcap")).job.program == \
        "/opt/\ufffd[31mapp\ufffd"


@pytest.mark.parametrize("content, words", [
    (b"", "is empty"),
    (b"hello world, I am a text", "is not a capture file"),
    (b"hi", "is not a capture file"),
    (b"\x89SWCAP\r\n", "cut short before its first block"),
    (b"\x89SWCAP\n\1\0\0\0\0\0\0\0", "copy it again as binary"),
    (b"\x89SWCAP\r\n\2\0\0\0\0\0\0\0", "update this one"),
    (b"\x89SWCAP\r\n\1\0\0\0\0\0\0\0", "has no readable rank"),
    (b"\x89SWCAP\r\n\1\0\0\0\0\0\0\0RANK", "has no readable rank"),
])
def test_what_is_no_capture_is_said(tmp_path, content, words):
    with pytest.raises(UserError, match=words):
        capture.read(put(tmp_path / "a.swcap", content))


def test_a_missing_file_and_a_folder(tmp_path):
    with pytest.raises(UserError, match="No such file"):
        capture.read(tmp_path / "none.swcap")
    with pytest.raises(UserError, match="directory"):
        capture.read(tmp_path)


def mangled(raw, rng):
    """`raw` with damage of some kind, checksums right or wrong."""
    data = bytearray(raw)
    kind = rng.randrange(4)
    if kind == 0:
        return data[:rng.randrange(len(data))]
    if kind == 1:
        for _ in range(rng.randrange(1, 20)):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        return data
    if kind == 2:
        at, to = rng.randrange(len(data)), rng.randrange(len(data))
        data[at:at + rng.randrange(200)] = data[to:to + rng.randrange(200)]
        return data
    out, at = data[:16], 16         # a writer that is wrong, not a disk
    while at < len(raw):
        kind, _, length, rank, _ = struct.unpack_from("<4sIQII", raw, at)
        payload = data[at + 24:at + 24 + length]
        for _ in range(rng.randrange(6)):
            end = len(payload) if rng.random() < 0.5 else 3000
            payload[rng.randrange(min(end, len(payload)))] = rng.choice(
                [rng.randrange(256), ord("9"), ord("-"), 0, 255])
        out += block(kind, rank, bytes(payload))
        at += 24 + length
    return out


def views(path):
    from straightway.profile import findings, tables
    from straightway.reporters import (
        output,
        profile_json,
        profile_terminal,
        profile_text,
    )
    p = profile.load(path)
    for reporter in profile_json, profile_text, profile_terminal:
        output.text(reporter, p)
    tables.calls(p)
    findings.find(p)


@pytest.mark.parametrize("seed", range(120))
def test_damage_never_gives_a_traceback(tmp_path, seed, path, capsys):
    raw = open(path, "rb").read()
    put(path, mangled(raw, random.Random(seed)))
    try:
        views(path)
    except UserError as error:
        assert str(path) in str(error)


# Writing ------------------------------------------------------------------

def test_append_adds_a_block(path):
    before = open(path, "rb").read()
    names = {("m", "", 5): capture.Symbol("f", "f.c", 7)}
    capture.append(path, b"SYMS", capture.names_payload(names))
    assert open(path, "rb").read().startswith(before)
    assert capture.read(path).symbols == names
    assert capture.read(path).problems == []


def test_append_that_is_cut_leaves_what_was(path):
    whole = capture.read(path)
    before = len(open(path, "rb").read())
    capture.append(path, b"SYMS", capture.names_payload({}))
    with open(path, "r+b") as file:
        file.truncate(before + 30)
    found = capture.read(path)
    assert found.symbols == whole.symbols and len(found.ranks) == 4
    capture.append(path, b"SYMS", capture.names_payload({}))
    found = capture.read(path)
    assert found.problems == [] and len(found.ranks) == 4


def test_append_that_fails_leaves_the_file(path, monkeypatch):
    before = open(path, "rb").read()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(capture.os, "fsync", full)
    with pytest.raises(UserError, match="No space left"):
        capture.append(path, b"SYMS", capture.names_payload({}))
    assert open(path, "rb").read() == before
    with pytest.raises(UserError, match="No space left"):
        capture.write(path, [])
    assert open(path, "rb").read() == before
    assert os.listdir(os.path.dirname(path)) == [os.path.basename(path)]


def test_write_into_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(UserError, match="No such file"):
        capture.write(tmp_path / "none" / "a.swcap", [])


@pytest.mark.parametrize("name", ["fifo", "link"])
def test_no_file_takes_the_place_of_a_device(tmp_path, name):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to(tmp_path / "fifo")
    with pytest.raises(UserError, match="is no file"):
        capture.write(tmp_path / name, [])
    with pytest.raises(OSError, match="is no file"):
        files.instead(tmp_path / name)
    assert (tmp_path / "fifo").is_fifo() and (tmp_path / "link").is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["fifo", "link"]
