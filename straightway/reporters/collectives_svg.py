"""A figure of collectives: latency by size, one panel per operation."""

from straightway.reporters import svg


def render(report, out):
    cells = report["cells"]
    sizes = sorted({c["size"] for c in cells if c["size"]})
    gains = report["summary"]["operations"]
    axes = svg.Axes(cells)
    panels = [(axes, name, [c for c in cells if c["operation"] == name], sizes,
               gains.get(name, {}).get("geometric_mean"))
              for name in dict.fromkeys(c["operation"] for c in cells)]
    out.write(svg.panels(
        report, f"Collectives on {report['ranks']} ranks: time by size, "
        "host and Straightway", "; medians, both in one run; × is the "
        "geometric mean of host / ours", panels, 620))
