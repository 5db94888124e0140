"""What a user reads at the end of a profiled run.

Rank 0 prints some lines without starting a program or reading a file. Their
numbers are those of the reports, and they name the command for the rest.
"""

import re

import pytest
from harness import programs
from straightway import capture, profile, units

KNOWN = ["--profile", "--no-enable"]


def run(host, folder, program, *words, n=2, options=KNOWN, **keywords):
    """(the lines from the program's name on, the capture's path)"""
    done = host.run(n, [host.compile(programs.source(program)), *words],
                    cwd=folder, run_args=options, timeout=120, **keywords)
    programs.well(done)
    lines = done.stderr.splitlines()
    first = next((i for i, line in enumerate(lines)
                  if line.startswith(program.partition(".")[0] + " ")), None)
    found, = folder.glob("*.swcap")
    return lines if first is None else lines[first:], found


def plain(text):
    return text.replace("µ", "u")


def operation(p, total):
    """A row, its columns apart by one blank."""
    return plain(" ".join([
        total.label[:31], units.duration(total.time / len(p.ranks)),
        units.share(total.time / p.elapsed),
        units.share(total.waiting / total.time) if total.time else "",
        units.number(total.calls), units.duration(total.mean_time)]))


def numbers_of(p):
    """The lines of a Profile that have its numbers."""
    elapsed, c = p.elapsed, p.communication
    said = [f"Communication {units.share(p.share)} of the time: waiting "
            f"{units.share(c.waiting / elapsed)}, moving "
            f"{units.share(c.moving / elapsed)};",
            f"compute {units.share(p.compute / elapsed)}"]
    if p.io.calls:
        said[1] += f"; I/O {units.share(p.io.time / elapsed)}"
    totals = p.totals("operation")
    rows = [operation(p, total) for total in totals[:5]]
    if len(totals) > 5:
        rows.append(f"and {len(totals) - 5} more")
    return said, rows


@pytest.mark.parametrize("program, words, n", [
    ("profile_known.c", ["."], 3), ("profile_waits.c", [], 2)])
def test_lines_agree_with_the_report(host, program, words, n, tmp_path):
    lines, path = run(host, tmp_path, program, *words, n=n)
    assert all(len(line) <= 80 for line in lines)
    p = profile.load(path)
    assert lines[0].endswith(f"  {n} ranks on 1 node, "
                             f"{plain(units.duration(p.wall))}")
    text = re.sub(" +", " ", "\n".join(lines))
    said, rows = numbers_of(p)
    for words in said:
        assert words in text
    for row in rows:
        assert f"\n{row}\n" in text
    assert f"Call sites and findings: straightway report {path.name}\n" in text
    assert not capture.read(path).symbols       # no reader has asked


def test_the_page_on_request(host, tmp_path):
    """With --profile-page a run ends with the report's page, after all that
    the program says, and the capture has the names of its call sites."""
    lines, path = run(host, tmp_path, "profile_known.c", tmp_path,
                      options=[*KNOWN, "--profile-page"])
    assert "Operations" in "\n".join(lines) and path.name in lines[-1]
    assert all(len(line) <= 80 for line in lines)
    assert capture.read(path).symbols


def test_no_lines_without_the_report(host, tmp_path):
    lines, path = run(host, tmp_path, "profile_known.c", tmp_path,
                      options=[*KNOWN, "--no-profile-report"])
    assert not any(line.startswith("Communication") for line in lines)
    assert any(f"to see it: straightway report {path}" in line
               for line in lines)


def test_a_trace_is_joined(host, tmp_path):
    lines, path = run(host, tmp_path, "profile_known.c", tmp_path,
                      options=[*KNOWN, "--trace"])
    assert f"Each call: straightway report {path.name} --perfetto" in lines
    assert path.with_suffix(".swtrace").exists()
    assert not list(tmp_path.glob("*.rank*.swtrace"))


def test_errors_are_told(host, tmp_path):
    """A call that fails goes into no list of operations by itself."""
    lines, path = run(host, tmp_path, "profile_errors.c",
                      env={"MPIR_CVAR_CH4_CMA_ENABLE": "0"})
    errors = sum(t.errors for t in profile.load(path).totals("operation"))
    assert errors and f"{errors} calls returned an error." in lines
