"""The tables of experiments.py, as text or as Markdown.

A table is a head and rows of strings; its first `words` columns are aligned
to the left, the others, numbers, to the right.
"""
import statistics

WITHIN = 0.10           # the aim for the error of single collectives


def table(head, rows, markdown, words=1):
    if markdown:
        lines = [head, ["---"] * words + ["---:"] * (len(head) - words),
                 *rows]
        return ["| " + " | ".join(line) + " |" for line in lines]
    widths = [max(len(line[i]) for line in [head, *rows])
              for i in range(len(head))]
    return ["  " + "  ".join(
        cell.ljust(width) if i < words else cell.rjust(width)
        for i, (cell, width) in enumerate(zip(line, widths))).rstrip()
        for line in [head, *rows]]


def seconds(value):
    return "-" if value is None else f"{value:.3f} s"


def percent(value):
    return "-" if value is None else f"{100 * value:.1f} %"


def signed(value):
    return "-" if value is None else f"{100 * value:+.1f} %"


def times(value):
    if value is None:
        return "no time left"
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f} ×"


def size(count):
    for shift, unit in (20, "MiB"), (10, "KiB"):
        if count >= 1 << shift:
            return f"{count >> shift} {unit}"
    return f"{count} B"


def gains(report, markdown):
    return table(
        ["kernel", "kind", "normal", "simulated", "collectives free",
         "faster", "time in them"],
        [[one["name"], one["kind"], seconds(row["normal"]),
          seconds(row["simulated"]), seconds(row["free"]),
          times(row["gain"]), percent(row["share"])]
         for one in report["kernels"] for row in [one["row"]]], markdown, 2)


def network(report, markdown):
    return table(
        ["kernel", "kind", "simulated", "collectives free", "faster",
         "time in them"],
        [[one["name"], one["kind"], seconds(row["simulated"]),
          seconds(row["free"]), times(row["gain"]), percent(row["share"])]
         for one in report["kernels"] for row in [one["row"]["there"]]],
        markdown, 2)


def parts(report, markdown):
    return table(
        ["kernel", "what is free", "faster"],
        [[one["name"], title, times(ratio)] for one in report["kernels"]
         for title, ratio in one["row"]["frees"]], markdown, 2)


def accuracy(report, markdown):
    return table(
        ["kernel", "whole run", "error", "its own clock", "error of that"],
        [[one["name"], seconds(row["normal"]), signed(row["error"]),
          seconds(row["own_normal"]), signed(row["own_error"])]
         for one in report["kernels"] for row in [one["row"]]], markdown)


def verdict(errors, what):
    found = [abs(e) for e in errors if e is not None]
    if not found:
        return (f"No normal run to hold {what} against: more ranks than "
                "cores.")
    return (f"Error of {what}: median {percent(statistics.median(found))}, "
            f"worst {percent(max(found))}.")


def micro(report, markdown):
    cells = {(c["operation"], c["bytes"]): c for c in report["micro"]}
    operations = list(dict.fromkeys(o for o, _ in cells))
    head = ["size"]
    for operation in operations:
        head += [operation, "simulated", "error"]
    rows = []
    for count in sorted({b for _, b in cells}):
        line = [size(count)]
        for operation in operations:
            cell = cells.get((operation, count))
            normal = cell and cell["row"]["normal"]
            line += ["-" if normal is None else f"{normal:.2f} us",
                     f"{cell['simulated_us']:.2f} us" if cell else "-",
                     signed(cell["row"]["error"]) if cell else "-"]
        rows.append(line)
    return table(head, rows, markdown)


def summary(report, row_of=lambda one: one["row"]):
    """The simulated gain of each kind, in a sentence."""
    said = []
    for kind in dict.fromkeys(one["kind"] for one in report["kernels"]):
        rows = [row_of(one) for one in report["kernels"]
                if one["kind"] == kind]
        low, high = (pick(row["share"] for row in rows)
                     for pick in (min, max))
        said.append(f"{kind}: collectives are " + (
            percent(low) if len(rows) == 1
            else f"{percent(low)} to {percent(high)}") + " of the time.")
    return said


def render(report, markdown=False):
    """All of it, a text that ends with a line."""
    title = "Collectives that cost nothing"
    where = (f"{report['ranks']} ranks, {report['mpi'] or 'replayed'}, "
             f"model {' + '.join(report['models'])}, "
             f"{report['machine'].get('cpu', 'unknown processor')}, "
             f"{report['date']}"
             + (", small problems (--quick)" if report["quick"] else ""))
    sections = [(None, summary(report), gains(report, markdown))]
    if any(one["row"]["frees"] for one in report["kernels"]):
        sections.append(("One operation free", [], parts(report, markdown)))
    if report["network"]:
        sections.append((f"On {report['network']}, one rank on each node",
                         summary(report, lambda one: one["row"]["there"]),
                         network(report, markdown)))
    sections.append((
        "Simulated against the normal run",
        [verdict([one["row"]["error"] for one in report["kernels"]],
                 "whole runs"),
         verdict([one["row"]["own_error"] for one in report["kernels"]],
                 "the kernels' own times")],
        accuracy(report, markdown) if any(
            one["row"]["normal"] for one in report["kernels"]) else []))
    if report["micro"]:
        errors = [c["row"]["error"] for c in report["micro"]]
        beyond = sum(e is not None and abs(e) > WITHIN for e in errors)
        sections.append((
            "Single collectives, time of a call",
            [verdict(errors, "calls"), f"{beyond} of {len(errors)} are "
             f"farther off than {percent(WITHIN)}."],
            micro(report, markdown)))
    lines = [f"# {title}" if markdown else title, "", where]
    for head, said, body in sections:
        if head:
            lines += ["", f"## {head}" if markdown else head]
        for sentence in said:
            lines += ["", sentence] if markdown else [sentence]
        if body:
            lines += ["", *body]
        if markdown and not head:
            lines += ["", "![Run times](gains.svg)"]
    if markdown and report["micro"]:
        lines += ["", "![Error by size](micro.svg)"]
    return "\n".join(lines) + "\n"
