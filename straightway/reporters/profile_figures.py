"""Figures of the HTML report, as the numbers that its template draws.

Lengths are in percent of a figure's width and height. So a figure fills its
space while its characters keep their size: they are HTML, at the axes, never
in the drawing.
"""

import collections
import math

from straightway import profile, units
from straightway.profile import recorded
from straightway.ranges import ranges

NAMES = {"compute": "compute", "waiting": "waiting", "moving": "moving data",
         "io": "file I/O"}
COLUMNS = 256           # columns of ranks; beyond, a column joins several
CELLS = 128             # cells of the matrix, each way; likewise
PAIRS = 8               # listed beside the matrix

Axis = collections.namedtuple("Axis", "ticks")          # [(percent, label)]
Column = collections.namedtuple("Column", "at width parts tip")
Columns = collections.namedtuple("Columns", "name total columns x y label")


def percent(part, whole):
    return round(100 * part / whole, 3) if whole else 0.0


def bar(parts, whole):
    """[(class, percent)] of [(class, number)], without invisible ones."""
    return [(name, width) for name, width in (
        (name, percent(value, whole)) for name, value in parts)
        if width >= 0.05]


def names(p):
    """What the parts of a rank's time are called in this profile."""
    return dict(NAMES, moving="moving data, or without a processor") \
        if p.crowded else NAMES


def parts(rank):
    return [("compute", rank.compute), ("waiting", rank.waiting),
            ("moving", rank.moving), ("io", rank.io)]


def round_steps(most, steps=4):
    """0 and round numbers up to `most`."""
    if not most:
        return [0]
    rough = most / steps
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(s * unit for s in (1, 2, 2.5, 5, 10) if s * unit >= rough)
    return [i * step for i in range(int(most / step + 1e-9) + 1)]


def _stack(values, top):
    """[(class, from the top, height)] in percent, from the base upwards."""
    found, base = [], 0.0
    for name, value in values:
        height = percent(value, top)
        if height > 0:
            found.append((name, round(100 - base - height, 3), height))
        base += height
    return found


def tick(ns):
    """A duration, in the short form of a round number."""
    number, unit = units.duration(ns).split(" ")
    if "." in number:
        number = number.rstrip("0").rstrip(".")
    return f"{number} {unit}"


def _vertical(most, steps, label):
    return Axis([(percent(value, most), label(value)) for value in steps])


# Ranks --------------------------------------------------------------------

def _told(rank_parts):
    return ", ".join(f"{NAMES[name]} {units.duration(ns)}"
                     for name, ns in rank_parts if ns)


def ranks(p):
    """Columns of all ranks; a joined column is the mean of its ranks."""
    size = -(-len(p.ranks) // COLUMNS)
    groups = [p.ranks[i:i + size] for i in range(0, len(p.ranks), size)]
    most = max((r.elapsed for r in p.ranks), default=0)
    columns = []
    for i, group in enumerate(groups):
        mean = {}
        for rank in group:
            for name, ns in parts(rank):
                mean[name] = mean.get(name, 0) + ns / len(group)
        label = str(ranges(r.rank for r in group))
        columns.append(Column(
            percent(i, len(groups)), percent(1, len(groups)),
            _stack(mean.items(), most),
            f"rank {label}: {_told(mean.items())}"))
    step = max(1, 2 ** math.ceil(math.log2(len(groups) / 16)))
    x = Axis([(percent(i + .5, len(groups)), str(groups[i][0].rank))
              for i in range(0, len(groups), step)])
    y = _vertical(most, round_steps(most), tick)
    return Columns("ranks", size, columns, x, y,
                   "Time of each rank: compute, waiting, moving data")


# Message sizes ------------------------------------------------------------

def sizes(totals, ranks_here):
    """Three figures over the same sizes: calls, bytes and time."""
    bins = {t.key: t for t in totals if t.key}
    if not bins:
        return []
    first, last = min(bins), max(bins)
    count = last - first + 1
    if count < 8:       # A single size would fill the whole figure.
        first = max(1, first - (8 - count) // 2)
        count = 8
    step = -(-count // 4)
    x = Axis([(percent(b - first + .5, count), units.size(1 << b - 1)
               .replace(" bytes", " B").replace(" byte", " B"))
              for b in range(first, first + count, step)])

    def figure(name, values, label, total):
        most = max(sum(v for _, v in values(t)) for t in bins.values())
        columns = [Column(
            percent(b - first, count), percent(1, count),
            _stack(values(t), most),
            f"{recorded.size_label(b)}: " + ", ".join(
                f"{NAMES[n]} {label(v)}" if n in NAMES else label(v)
                for n, v in values(t) if v))
            for b, t in sorted(bins.items()) if most]
        y = Axis([(100, label(most))])
        return Columns(name, total, columns, x, y,
                       f"{name} by message size") if most else None

    def duration(ns):
        return units.duration(ns / ranks_here)

    found = [
        figure("calls", lambda t: [("calls", t.calls)], units.number,
               units.number(sum(t.calls for t in bins.values()))),
        figure("bytes sent", lambda t: [("bytes", t.sent)],
               units.size, units.size(sum(t.sent for t in bins.values()))),
        figure("time per rank", lambda t: [("waiting", t.waiting),
                                           ("moving", t.moving)], duration,
               duration(sum(t.time for t in bins.values())))]
    return [f for f in found if f]


# Durations ----------------------------------------------------------------

def durations(totals):
    """A row of columns for each operation, over the same axis of time:
    {"x": Axis, "rows": [(operation, calls, [Column, ...])]}, or None."""
    found = [(t, t.histogram()) for t in totals]
    found = [(t, histogram) for t, histogram in found if histogram]
    if not found:
        return None
    first = min(min(histogram) for _, histogram in found)
    last = max(max(histogram) for _, histogram in found)
    low = math.floor(math.log10(2.0 ** first))
    high = math.ceil(math.log10(2.0 ** (last + 1)))
    width = high - low
    ticks = []
    for power in range(low, high + 1):
        ticks.append((percent(power - low, width), tick(10 ** power)))

    def at(bucket):
        return percent(bucket * math.log10(2) - low, width)

    rows = []
    for t, histogram in found:
        most = max(histogram.values())
        calls = sum(histogram.values())
        rows.append((t.label, calls, [Column(
            at(b), round(at(b + 1) - at(b), 3),
            _stack([("calls", n)], most),
            f"{units.duration(1 << b)} to {units.duration(2 << b)}: "
            f"{units.plural(n, 'call')}, {units.share(n / calls)}")
            for b, n in histogram.items()]))
    return {"x": Axis(ticks), "rows": rows}


# The matrix ---------------------------------------------------------------

def _edges(p, size):
    """The cells before which a node begins; only where nodes hold their ranks
    in order."""
    node_of = {rank: node.number for node in p.nodes for rank in node.ranks}
    # A file may claim more ranks than anything could go through.
    edges = [rank for rank in sorted(node_of) if rank - 1 in node_of
             and node_of[rank] != node_of[rank - 1]]
    if len(edges) >= 2 * len(p.nodes) or any(e % size for e in edges):
        return []
    return [e // size for e in edges]


def matrix(p):
    """The data that the script draws, or None: a cell joins `join` ranks each
    way; "kinds" has [[from, to, messages, bytes, ...]] by kind."""
    whole = p.matrix()
    if not whole:
        return None
    count = max(p.job.ranks, 1 + max(max(pair) for pair in whole))
    join = -(-count // CELLS)
    kinds = {}
    for kind in profile.KINDS:
        found = p.matrix(kind)
        if not found:
            continue
        cells = {}
        for (a, b), one in found.items():
            cell = cells.setdefault((a // join, b // join), [0, 0])
            cell[0] += one.messages
            cell[1] += one.bytes
        kinds[kind] = [n for key, sums in sorted(cells.items())
                       for n in (*key, *sums)]
    pairs = sorted(whole.items(), key=lambda item: (
        -item[1].bytes, -item[1].messages, item[0]))[:PAIRS]
    return {"data": {"ranks": count, "join": join,
                     "cells": -(-count // join), "edges": _edges(p, join),
                     "kinds": kinds},
            "pairs": pairs, "join": join, "kinds": list(kinds),
            "count": len(whole),
            "bytes": sum(one.bytes for one in whole.values()),
            "messages": sum(one.messages for one in whole.values())}
