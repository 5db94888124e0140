"""The table of real programs: lines of a terminal, and a page in Markdown.

Ratios are alone / with Straightway: above 1 Straightway takes less.
"""
import comparison

HEAD = (f"{'program':17}{'ranks':>5}{'alone':>9}{'ratio':>7}"
        f"  {'95 % of it':13}{'most':>6}{'cpu':>6}{'MiB':>7}{'profile':>8}")
BEGIN, END = "<!-- applications -->\n", "<!-- end of applications -->\n"


def ratio(found, digits=3):
    return f"{found['ratio']['median']:.{digits}f}" \
        if found and "ratio" in found else "–"


def interval(found):
    one = found["ratio"]
    return f"{one['low']:.3f}..{one['high']:.3f}"


def more(row):
    """How many MiB more a rank has with Straightway."""
    found = row["memory"]
    return f"{(found['ours'] - found['alone']) / 1024:+.1f}" if found else "–"


def most(row):
    return f"{row['most']:.2f}" if row["most"] else "–"


def line(row):
    """A program's line on a terminal of 80 columns, a few where it fails."""
    first = f"{row['title'][:16]:17}{row['ranks']:>5}"
    if row["state"] != comparison.FINE:
        return f"{first}  {row['state']}: {row['why']}"
    profile = f"{row['profile']:+.2f}" if row["profile"] is not None else "–"
    text = (f"{first}{row['wall']['alone']:>7.2f} s{ratio(row['wall']):>7}"
            f"  {interval(row['wall']):13}{most(row):>6}"
            f"{ratio(row['cpu'], 2):>6}{more(row):>7}{profile:>8}")
    return "\n".join([text, *(f"    it says: {one}" for one in row["said"])])


def last(rows):
    """The line below all others."""
    found = comparison.mean(rows)
    if not found:
        return "nothing was measured"
    return (f"geometric mean of {found['programs']}: {found['ratio']:.3f}, "
            f"the lowest {found['lowest']:.3f}")


def missing(app, absent):
    return f"{app.title}: not installed: apt-get install {' '.join(absent)}"


# The page -------------------------------------------------------------------

COLUMNS = (
    ("program", lambda row: row["title"]),
    ("ranks", lambda row: str(row["ranks"])),
    ("alone", lambda row: f"{row['wall']['alone']:.2f} s"),
    ("alone / with us", lambda row: ratio(row["wall"])),
    ("95 %", lambda row: interval(row["wall"])),
    ("own clock", lambda row: ratio(row["own"])),
    ("at most", most),
    ("taken", lambda row: _taken(row)),
    ("user", lambda row: ratio(row["user"], 2)),
    ("system", lambda row: ratio(row["system"], 2)),
    ("page faults", lambda row: _both(row["faults"])),
    ("switches, voluntary", lambda row: _both(row["voluntary"])),
    ("involuntary", lambda row: _both(row["involuntary"])),
    ("memory", lambda row: f"{row['memory']['alone'] / 1024:.0f} MiB "
     f"{more(row)}" if row["memory"] else "–"),
    ("profile", lambda row: f"{row['profile']:+.2f} s"
     if row["profile"] is not None else "–"))


def _taken(row):
    part = comparison.taken(row)
    return f"{100 * part:.0f} %" if part is not None else "–"


def _both(found):
    return f"{found['alone']:,.0f} → {found['ours']:,.0f}"


def page(report):
    """The table in Markdown, with the machine and the day."""
    machine = report["machine"]
    yield (f"{machine['cpu']}, {machine['cores']} cores, Linux "
           f"{machine['kernel']}, {machine['date'][:10]}; "
           f"{report['pairs']} pairs.\n\n")
    yield "| " + " | ".join(name for name, _ in COLUMNS) + " |\n"
    yield "| --- |" + " ---: |" * (len(COLUMNS) - 1) + "\n"
    for row in report["rows"]:
        if row["state"] == comparison.FINE:
            cells = [show(row) for _, show in COLUMNS]
        else:
            cells = [row["title"], str(row["ranks"]), row["state"]] + \
                [""] * (len(COLUMNS) - 3)
        yield "| " + " | ".join(cells) + " |\n"
    yield f"\n{last(report['rows']).capitalize()}.\n"


def renewed(text, report):
    """A document with the table between its marks; without marks the table
    alone."""
    table = BEGIN + "\n" + "".join(page(report)) + "\n" + END
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    return before + table + after if begin and end else table
