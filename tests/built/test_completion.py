"""Completion: bash, zsh and fish complete commands, options and files."""

import os
import pty
import re
import select
import shutil
import subprocess
import time

import pytest

from harness import patience, spread
from harness.hosts import COMMAND

CASES = {"straightway ru": {"run"}, "straightway run --gu": {"--guard"},
         "straightway run --no-gu": {"--no-guard"},
         "straightway bench colle": {"collectives"},
         "straightway whatif rep": {"replay"},
         "straightway run --agent ": {"auto", "on", "off"},
         "straightway report --perf": {"--perfetto"},
         "straightway report --html re": {"results.html"},
         "straightway run -n 4 ./prog": {"./program"}}


def script(shell):
    done = subprocess.run(
        [COMMAND, "--completion", shell], text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "results.html").write_text("")
    (tmp_path / "program").write_text("")
    (tmp_path / "program").chmod(0o755)
    for shell in "bash", "zsh", "fish":
        (tmp_path / f"script.{shell}").write_text(script(shell))
    return tmp_path


def run(shell, text, folder):
    if not shutil.which(shell):
        pytest.skip(f"no {shell}")
    done = patience.run([shell, *text], cwd=folder, text=True, timeout=60,
                        capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("typed", CASES)
def test_bash_completes(folder, typed):
    words = " ".join(f"'{word}'" for word in typed.split(" "))
    said = run("bash", ["--norc", "-c", f"""
        source ./script.bash
        COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
        function=$(complete -p straightway | sed 's/.*-F \\([^ ]*\\).*/\\1/')
        $function 2>&1
        printf '%s\\n' "${{COMPREPLY[@]}}" | sort -u"""], folder)
    assert set(said.split()) == CASES[typed]


@pytest.mark.parametrize("typed", CASES)
def test_fish_completes(folder, typed):
    said = run("fish", ["--no-config", "-c",
                        f"source ./script.fish; complete -C '{typed}'"],
               folder)
    found = {line.split("\t")[0] for line in said.splitlines()}
    assert found == CASES[typed]


@pytest.fixture
def zsh(folder):
    """type(text) -> what zsh makes of it and a tabulator."""
    if not shutil.which("zsh"):
        pytest.skip("no zsh")
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execvpe("zsh", ["zsh", "-f", "-i"],
                   {**os.environ, "TERM": "dumb", "PS1": "> "})

    def read_until(pattern):
        text, end = "", time.monotonic() + 60
        while not re.search(pattern, text):
            assert time.monotonic() < end, text
            if select.select([terminal], [], [], 1)[0]:
                text += os.read(terminal, 4096).decode()
        return re.search(pattern, text)

    def type_(text):
        os.write(terminal, f"{text}\t".encode())
        return read_until

    os.write(terminal, b"autoload -Uz compinit; compinit -u -D; "
             b"eval \"$(<script.zsh)\"; unsetopt zle_bracketed_paste; "
             b"echo rea'dy'\n")
    read_until("ready")
    yield type_
    os.close(terminal)
    os.waitpid(pid, 0)


@pytest.mark.parametrize("typed", spread.some(
    one for one, found in CASES.items() if len(found) == 1))
def test_zsh_completes(zsh, typed):
    (found,) = CASES[typed]
    begun = typed.split(" ")[-1]
    zsh(typed)(re.escape(begun) + r"[^\w]*" +
               re.escape(found.removeprefix(begun)))


@pytest.mark.parametrize("word, hint", [
    ("bahs", "did you mean bash"), ("tcsh", "bash"), ("", "zsh or fish")])
def test_another_shell_is_refused(word, hint):
    done = subprocess.run(
        [COMMAND, "--completion", word],
        text=True, capture_output=True)
    assert done.returncode == 2 and hint in done.stderr
