"""Reporters: each shows one kind of report in one form, and decides nothing.

All have one protocol. A reporter is a module named REPORT_FORM, and it has

    render(report, out)

which writes the report to the text stream `out`. A report is a Profile, or the
plain data that a command offers as JSON. A reporter may take more by keyword,
such as the number of rows. output.py writes a reporter's text to a file or to
stdout.

perfetto.py takes a path as `out`: a native program writes that file.

Several reporters share page.py and console.py (terminals), bench_parts.py,
svg.py, html_parts.py, profile_figures.py, words.py and forecast_words.py.
progress.py shows the progress of long runs.
"""
