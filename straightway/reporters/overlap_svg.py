"""A figure of nonblocking collectives, three panels for each operation: the
time of a call that is waited for at once, overlap, and hidden skew, by size.
"""

from straightway.bench.results import MODES
from straightway.reporters import svg

_PANELS = (
    ("immediate", lambda side: side["immediate"]),
    ("overlap", lambda side: side["plain"]["1"]["overlap"]),
    ("skew hidden", lambda side: side["late"]["1"]["hidden"]))


def _curves(cells, of):
    return [dict(size=c["size"], floor=0, **{
        mode: of(c[mode]) if c[mode] else None for mode in MODES})
        for c in cells]


def render(report, out):
    cells = report["cells"]
    sizes = sorted({c["size"] for c in cells if c["size"]})
    means = report["summary"]["immediate"]["operations"]
    times = svg.Axes(_curves(cells, _PANELS[0][1]))
    shares = svg.Shares(_curves(cells, _PANELS[1][1]))
    panels = []
    for name in dict.fromkeys(c["operation"] for c in cells):
        mine = [c for c in cells if c["operation"] == name]
        for title, of in _PANELS:
            timed = title == "immediate"
            panels.append((
                times if timed else shares, name if timed else title,
                _curves(mine, of), sizes,
                means.get(name, {}).get("geometric_mean") if timed else None))
    out.write(svg.panels(
        report, f"Nonblocking collectives on {report['ranks']} ranks: host "
        "and Straightway", "; medians, both in one run; left: started and "
        "waited for at once; computing takes one pure time", panels, 620,
        columns=len(_PANELS), floor=None))
