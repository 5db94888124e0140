"""Numbers as people read them."""

import pytest

from straightway import units


@pytest.mark.parametrize("ns, text", [
    (0, "0 s"), (0.4, "0 s"), (1, "1 ns"), (999, "999 ns"),
    (999.6, "1.00 µs"), (1000, "1.00 µs"), (12345, "12.3 µs"),
    (999_400, "999 µs"), (999_600, "1.00 ms"), (99_950_000, "100 ms"),
    (9.999e6, "10.0 ms"), (123_456_789, "123 ms"), (1e9, "1.00 s"),
    (61e9, "61.0 s"),
    (12345e9, "12,345 s")])
def test_durations(ns, text):
    assert units.duration(ns) == text


@pytest.mark.parametrize("count, text", [
    (0, "0 bytes"), (1, "1 byte"), (16, "16 bytes"), (1023, "1023 bytes"),
    (1024, "1 KiB"), (24576, "24 KiB"), (1536, "1.50 KiB"),
    (1 << 20, "1 MiB"), (1 << 63, "8 EiB")])
def test_sizes(count, text):
    assert units.size(count) == text


@pytest.mark.parametrize("small, large, text", [
    (16, 16, "16 bytes"), (8, 16, "8 to 16 bytes"),
    (900, 2048, "900 bytes to 2 KiB"), (1, 4, "1 to 4 bytes")])
def test_spans(small, large, text):
    assert units.sizes(small, large) == text


@pytest.mark.parametrize("count, text", [
    (0, "0"), (9999, "9,999"), (12345, "12.3 k"), (1_200_000, "1.20 M"),
    (7.89e9, "7.89 G"), (10 ** 14, "100 T")])
def test_numbers(count, text):
    assert units.number(count) == text


@pytest.mark.parametrize("part, text", [
    (0, "0 %"), (1, "100 %"), (0.9996, "100 %"), (0.123, "12.3 %"),
    (0.0005, "0.05 %"), (0.00001, "<0.01 %")])
def test_shares(part, text):
    assert units.share(part) == text


def test_plurals():
    assert units.plural(1, "rank") == "1 rank"
    assert units.plural(12345, "rank") == "12.3 k ranks"
