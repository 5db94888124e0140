"""Reporters: each shows one kind of report in one form, and decides nothing.

All have one protocol. A reporter is a module named REPORT_FORM, and it has

    render(report, out)

which writes the report to the text stream `out`. A report is a Profile, or the
plain data that a command offers as JSON. A reporter may take more by keyword,
such as how many rows it shows. output.py takes what a reporter writes to a file
or to stdout.

perfetto.py has a path as `out`: a native program writes that file.

Several reporters share page.py and console.py (terminals), bench_parts.py,
svg.py, html_parts.py, profile_figures.py, words.py and forecast_words.py.
progress.py is for runs that take a while.
"""
