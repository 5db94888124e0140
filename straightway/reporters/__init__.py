"""Reporters: each shows one kind of report in one form, and decides nothing.

One protocol for all. A reporter is a module, named after the report and the
form, with

    render(report, out)

which writes `report` to the text stream `out`. `report` is what is shown: a
Profile, or what a command puts into JSON. A reporter may take more by keyword:
how many rows, in which order. output.py takes a report to a file.

Of perfetto.py `out` is a path, as a program of its own writes there.
"""
