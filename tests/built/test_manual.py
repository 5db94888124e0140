"""The manual: a page for each command and header, with all they have."""

import argparse
import os
import re
import shutil
import subprocess
import sys

import pytest

from harness import patience
from harness.hosts import COMMAND, ROOT

sys.path.insert(0, str(ROOT / "packaging" / "manual"))

import headers
import native_help
import roff
import tree

GENERATOR = ROOT / "packaging" / "manual"
SHARE = COMMAND.resolve().parent.parent / "share"
HEADERS = ("straightway.h", "straightway_mpi.h")


@pytest.fixture(scope="module")
def commands():
    return {one.page: one for one in tree.read(COMMAND)}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder that the generator writes."""
    folder = tmp_path_factory.mktemp("share")
    done = make(folder, COMMAND, SOURCE_DATE_EPOCH="0")
    assert done.returncode == 0 and not done.stdout, done.stdout + done.stderr
    return folder


def make(folder, program, **changes):
    return subprocess.run(
        [sys.executable, GENERATOR / "make.py", folder, "--version", "1.2.3",
         "--program", program], text=True, capture_output=True,
        env={**os.environ, **changes})


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes()
            for path in folder.rglob("*") if path.is_file()}


def shown(page):
    """A page as a terminal shows it, in one line."""
    done = patience.run(["man", "-l", page], timeout=60, text=True,
                        capture_output=True, env={
                            **os.environ, "MANWIDTH": "500", "LC_ALL": "C",
                            "MAN_KEEP_FORMATTING": ""})
    assert done.returncode == 0, done.stderr
    return " ".join(done.stdout.split())


def test_an_installation_has_a_page_for_each_command(commands):
    pages = {path.stem for path in (SHARE / "man" / "man1").iterdir()}
    assert pages == set(commands)
    assert {"straightway-run", "straightway-profile", "straightway-doctor",
            "straightway-bench-collectives", "straightway-whatif-replay",
            "straightway"} <= pages


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_has_a_page_and_each_call_leads_there(name):
    text = (ROOT / "include" / name).read_text()
    calls = [call.name for call in headers.read(text)[2]]
    defined = set(re.findall(r"^STRAIGHTWAY_CALL_\(\w+, (\w+),",
                             text, re.M)) or \
        set(re.findall(r"^static inline int straightway_(\w+)\(", text, re.M))
    assert {f"straightway_{one}" for one in defined} == set(calls)
    folder = SHARE / "man" / "man3"
    page = (folder / f"{name}.3").read_text()
    for call in calls:
        assert (folder / f"{call}.3").read_text() == f".so man3/{name}.3\n"
        assert roff.escaped(f"{call}(") in page


def test_each_option_of_each_parser_is_in_its_page(commands, made):
    seen = 0
    for name, command in commands.items():
        page = (made / "man" / "man1" / f"{name}.1").read_text()
        for action in command.parser._actions:
            if action.help == argparse.SUPPRESS:
                continue
            for flag in action.option_strings:
                assert roff.bold(flag) in page, (name, flag)
                seen += 1
    assert seen > 300


@pytest.mark.parametrize("word", ["run", "profile"])
def test_each_option_of_the_native_help_is_in_its_page(made, word):
    text = native_help.ask(COMMAND, word)
    flags = {flag for lines in text.groups.values() for head, _ in
             native_help.entries(lines)
             for flag in re.findall(r"(?<!\S)--?\w[\w-]*", head)}
    assert {"-n", "--ranks", "--dry-run", "--arena-threshold"} <= flags
    page = (made / "man" / "man1" / f"straightway-{word}.1").read_text()
    for flag in [*flags, "--enable", "--no-enable", "--guard", "--no-guard"]:
        assert roff.bold(flag) in page, flag


def test_a_page_shows_what_the_help_says(made):
    if not shutil.which("man"):
        pytest.skip("no man")
    page = shown(made / "man" / "man1" / "straightway-report.1")
    assert "straightway-report - show the contents of a capture file" in page
    assert "straightway report app.8.4711.swcap --csv sites sites.csv" in page
    assert "--csv TABLE [OUT ...]" in page
    page = shown(made / "man" / "man1" / "straightway.1")
    assert "straightway-whatif(1)" in page and "1970-01-01" in page
    assert "mpirun -n 8 straightway run ./app" in page
    assert "-h, --help this text" in page and "straightway 1.2.3" in page
    page = shown(made / "man" / "man1" / "straightway-run.1")
    assert "-n N, --ranks N start N ranks" in page
    assert "127: it is not found" in page
    page = shown(made / "man" / "man3" / "straightway.h.3")
    assert "int straightway_accelerate(int on);" in page
    assert 'straightway_region_begin("solver");' in page


def test_roff_has_no_warning(made):
    if not shutil.which("groff"):
        pytest.skip("no groff")
    pages = sorted(made.glob("man/man?/*"))
    assert len(pages) > 30
    for page in pages:
        if page.read_text().startswith(".so "):
            continue
        done = patience.run(
            ["groff", "-man", "-ww", "-rCHECKSTYLE=10", "-z", "-Tutf8", page],
            timeout=60, text=True, capture_output=True)
        assert done.returncode == 0 and not done.stderr, done.stderr


def test_mandoc_finds_no_fault(made):
    if not shutil.which("mandoc"):
        pytest.skip("no mandoc")
    pages = [page for page in sorted(made.glob("man/man?/*"))
             if not page.read_text().startswith(".so ")]
    done = patience.run(["mandoc", "-T", "lint", "-W", "warning", *pages],
                        timeout=60, text=True, capture_output=True)
    assert done.returncode == 0 and not done.stdout, done.stdout


@pytest.mark.parametrize("text, roff_", [
    (".TH", "\\&.TH"), ("'a", "\\(aqa"), ("a\\b", "a\\eb"),
    ("--x", "\\-\\-x"), ("µs", "\\[u00B5]s"), ("a\n.b", "a\n\\&.b")])
def test_no_text_is_taken_for_roff(text, roff_):
    assert roff.escaped(text) == roff_


def test_two_runs_write_the_same_bytes(made, tmp_path):
    make(tmp_path / "again", COMMAND, SOURCE_DATE_EPOCH="0", COLUMNS="200")
    assert files(tmp_path / "again") == files(made)


def test_a_build_for_another_processor_has_the_other_pages(tmp_path):
    foreign = tmp_path / "straightway"
    foreign.write_bytes(b"\x7fELF of another machine")
    foreign.chmod(0o755)
    done = make(tmp_path / "share", foreign)
    assert done.returncode == 0, done.stderr
    assert "straightway run and profile: NONE" in done.stdout
    pages = {path.stem for path in (tmp_path / "share/man/man1").iterdir()}
    assert "straightway-report" in pages and "straightway" in pages
    assert not pages & {"straightway-run", "straightway-profile"}
