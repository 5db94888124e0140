"""Times, sizes and counts for readers: three significant digits."""

import re

# Between a number and its unit: " s" of "1.23 s".
WITH_UNIT = re.compile(
    r"(?<=\d) (%|[mnµ]?s\b|[KMGTPE]iB\b|bytes?\b|[kMGTP]\b)")


def _three(value):
    """Three significant digits of a value below 1000."""
    if value >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def duration(ns):
    """1.23 s, 45.6 ms, 789 µs; 0 s. Seconds never become minutes, so that they
    compare."""
    for unit, name in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if ns >= 0.9995 * unit:
            value = ns / unit
            return (f"{value:,.0f}" if value >= 999.5 else
                    _three(value)) + f" {name}"
    return f"{ns:.0f} ns" if ns >= 0.5 else "0 s"


def size(count):
    """24 KiB, 1.5 MiB, 16 bytes; three digits where the value is not round."""
    for shift, name in ((60, "EiB"), (50, "PiB"), (40, "TiB"), (30, "GiB"),
                        (20, "MiB"), (10, "KiB")):
        if count >= 1 << shift:
            value = count / (1 << shift)
            if value == int(value):
                return f"{int(value)} {name}"
            return (f"{value:,.0f}" if value >= 100 else
                    _three(value)) + f" {name}"
    if count == int(count):
        return f"{int(count)} byte{'s' * (count != 1)}"
    return f"{count:.1f} bytes"


def brief(count):
    """8, 64, 1k, 4m: the form of sizes in the benchmarks' options."""
    for unit, letter in ((1 << 30, "g"), (1 << 20, "m"), (1 << 10, "k")):
        if count >= unit and count % unit == 0:
            return f"{count // unit}{letter}"
    return str(count)


def sizes(small, large):
    """16 bytes; 8 to 16 bytes; 900 bytes to 2 KiB"""
    if small == large:
        return size(small)
    one, two = size(small), size(large)
    if one.partition(" ")[2].rstrip("s") == two.partition(" ")[2].rstrip("s"):
        one = one.partition(" ")[0]
    return f"{one} to {two}"


def number(count):
    """950, 12.3 k, 4.56 M, 7.89 G"""
    for unit, letter in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"),
                         (1e4, "k")):
        if count >= unit:
            unit = 1e3 if letter == "k" else unit
            value = count / unit
            return (f"{value:,.0f}" if value >= 999.5 else
                    _three(value)) + f" {letter}"
    return f"{count:,}"


def share(part):
    """0.123 -> 12.3 %; small shares keep a significant digit."""
    percent = 100 * part
    if percent >= 99.95:
        return f"{percent:.0f} %"
    if percent >= 0.1 or percent == 0:
        return f"{percent:.1f} %" if percent else "0 %"
    return f"{percent:.2f} %" if percent >= 0.01 else "<0.01 %"


def plural(count, noun, nouns=None):
    """1 rank, 2 ranks, 12.3 k calls"""
    return f"{number(count)} {noun if count == 1 else nouns or noun + 's'}"
