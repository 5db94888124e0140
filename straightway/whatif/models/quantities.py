"""Times, speeds and sizes in a model: a plain number in the engine's unit (ns,
ns a byte, bytes), or text with a unit."""

import math
import re

TIMES = {"ns": 1, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9}
SIZES = {"B": 1, "bytes": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9,
         "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
# Bytes a second; "ns/B" is the engine's own.
SPEEDS = {**{f"{unit}/s": n for unit, n in SIZES.items() if unit != "bytes"},
          **{f"{p}{bit}/s": n / 8 for bit in ("bit", "b")
             for p, n in (("k", 1e3), ("M", 1e6), ("G", 1e9))}}

_MOST = 1 << 64     # no quantity is as large
_TEXT = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)\s*(\S*)\s*")


class Wrong(ValueError):
    """What the value should have been."""


def _split(value, form):
    match = _TEXT.fullmatch(value)
    if not match:
        raise Wrong(form)
    return float(match.group(1)), match.group(2)


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def number(value, form="a number from 0 on"):
    """A number from 0 on."""
    if not _is_number(value) or not 0 <= value < _MOST or \
            not math.isfinite(value):
        raise Wrong(form)
    return value


def whole(value, least=1):
    form = f"a whole number, at least {least}"
    if not isinstance(value, int) or isinstance(value, bool) or \
            not least <= value < _MOST:
        raise Wrong(form)
    return value


def time(value):
    """In ns: 120, "120 ns", "1.2 us"."""
    form = ('a time: a number of ns, or text like "1.2 us" (units: '
            "ns, us, ms, s)")
    if isinstance(value, str):
        value, unit = _split(value, form)
        if unit not in TIMES:
            raise Wrong(form)
        value *= TIMES[unit]
    value = number(value, form)
    if value > 1e12:
        raise Wrong("a time of at most 1000 s")
    return value


def speed(value):
    """In ns a byte: 0.08, "0.08 ns/B", "12.5 GB/s", "100 Gbit/s"."""
    form = ('a speed: a number of ns a byte, or text like "12.5 GB/s" or '
            '"100 Gbit/s" or "0.08 ns/B"')
    if isinstance(value, str):
        value, unit = _split(value, form)
        if unit in SPEEDS and value > 0:
            value = 1e9 / (value * SPEEDS[unit])
        elif unit != "ns/B":
            raise Wrong(form)
    value = number(value, form)
    if value > 1e9:
        raise Wrong("a speed of at least one byte a second")
    return value


def size(value):
    """In bytes: 4096, "4 KiB"."""
    form = ('a size: a number of bytes, or text like "64 KiB" (units: '
            + ", ".join(SIZES) + ")")
    if isinstance(value, str):
        value, unit = _split(value, form)
        if unit not in SIZES:
            raise Wrong(form)
        value *= SIZES[unit]
    if number(value, form) != int(value):
        raise Wrong(form)
    return int(value)
