"""The native command: what a user types, and what happens."""

import os
import pathlib
import re
import signal
import subprocess
import sys

import pytest

from harness import patience
from harness.hosts import COMMAND, ROOT
from straightway import commands

HELLO = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("rank %d of %d\\n", rank, size);
    MPI_Finalize();
    return argc > 1 ? 3 : 0;
}
"""


def environment(**changes):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("STRAIGHTWAY_", "OMPI_", "PMI", "LD_PRELOAD"))
           or k == "STRAIGHTWAY_LIB"}
    for key, value in changes.items():
        if value is None:
            env.pop(key, None)
        else:
            env[key] = str(value)
    return env


def straightway(*arguments, cwd=None, **changes):
    return patience.run([COMMAND, *map(str, arguments)], text=True,
                        capture_output=True, timeout=60, cwd=cwd,
                        env=environment(**changes))


def library():
    done = straightway("run", "--dry-run", "true")
    return re.search("LD_PRELOAD=([^: ]+)", done.stdout).group(1)


def compiled(folder, text, *flags):
    source = folder / "program.c"
    source.write_text(text)
    program = folder / "program"
    patience.run(["cc", source, "-o", program, *flags], check=True,
                 timeout=60)
    return program


# Help and mistakes ------------------------------------------------------

@pytest.mark.parametrize("arguments", [
    ["--help"], ["run", "--help"], ["profile", "--help"],
    ["doctor", "--help"], ["bench", "--help"],
    ["bench", "collectives", "--help"], ["report", "--help"],
    ["diff", "--help"], ["merge", "--help"],
    ["whatif", "--help"], ["study", "--help"],
    ["where", "--help"], ["tune", "--help"]], ids=" ".join)
def test_help_fits_80_columns(arguments):
    done = straightway(*arguments, COLUMNS="80")
    assert done.returncode == 0, done.stderr
    assert "usage: straightway" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize("command, default", [("run", "on"),
                                              ("profile", "off")])
def test_help_has_the_command_s_own_defaults(command, default):
    text = " ".join(straightway(command, "--help").stdout.split())
    assert f"to the host untouched [{default}]" in text


def test_version():
    done = straightway("--version")
    assert re.fullmatch(r"straightway \d+\.\d+\.\d+\n", done.stdout)


@pytest.mark.parametrize("arguments, meant", [
    (["docter"], "doctor"),
    (["rnu", "./app"], "run"),
    (["--versoin"], "--version"),
    (["run", "--stat", "./app"], "--stats"),
    (["run", "--arena-treshold", "64k", "./app"], "--arena-threshold"),
    (["run", "--no-areana", "./app"], "--no-arena"),
    (["run", "-n", "2", "--mpi", "opnmpi", "true"], "openmpi"),
    (["doctor", "--jsn", "x"], "--json"),
    (["bench", "colectives"], "collectives"),
    (["repotr", "app.swcap"], "report"),
    (["report", "app.swcap", "--jsn", "x"], "--json"),
    (["mereg", "all.swcap", "app.swcap"], "merge"),
    (["bench", "collectives", "--size", "8"], "--sizes"),
    (["bench", "collectives", "--ops", "alreduce"], "allreduce"),
])
def test_a_typo_is_answered_with_what_was_meant(arguments, meant):
    done = straightway(*arguments)
    assert done.returncode == 2
    assert f"did you mean {meant}?" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments, words", [
    (["run"], "which program"),
    (["run", "--arena-threshold"], "needs a value"),
    (["run", "--arena-threshold", "many", "true"], "64k"),
    (["run", "--arena=perhaps", "true"], "on or off"),
    (["run", "--spin-us", "x", "true"], "whole number"),
    (["run", "-n", "0", "true"], "number of ranks"),
    (["run", "--mpi", "openmpi", "true"], "needs -n"),
    (["run", "mpirun", "-n", "2", "./app"], "mpirun -n N straightway run"),
    (["run", "-n", "2", "--launcher-args", "-x 'A", "--mpi", "/bin/true",
      "true"], "not closed"),
    (["true"], "straightway run true"),
])
def test_a_mistake_is_named_and_costs_status_2(arguments, words):
    done = straightway(*arguments)
    assert done.returncode == 2
    assert words in done.stderr


# Programs that cannot be served -----------------------------------------

def test_a_missing_program(tmp_path):
    done = straightway("run", "no-such-program-here")
    assert done.returncode == 127
    assert "not found in PATH" in done.stderr


def test_a_program_of_this_folder_is_suggested(tmp_path):
    (tmp_path / "app").write_text("#!/bin/sh\n")
    done = straightway("run", "app", cwd=tmp_path)
    assert done.returncode == 127
    assert "did you mean ./app?" in done.stderr


def test_a_program_that_is_not_executable(tmp_path):
    (tmp_path / "app.py").write_text("print()\n")
    done = straightway("run", "./app.py", cwd=tmp_path)
    assert done.returncode == 126
    assert "straightway run python3 ./app.py" in done.stderr


def test_a_static_program_is_refused(tmp_path):
    program = compiled(tmp_path, "int main(void) { return 0; }\n", "-static")
    done = straightway("run", program)
    assert done.returncode == 126
    assert "statically linked" in done.stderr


@pytest.mark.parametrize("head, words", [
    (b"\x7fELF\x01\x01\x01", "32-bit"),
    (b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\x00\xf3\x00", "RISC-V"),
])
def test_a_program_for_another_processor_is_refused(tmp_path, head, words):
    program = tmp_path / "app"
    program.write_bytes(head.ljust(256, b"\0"))
    program.chmod(0o755)
    done = straightway("run", program)
    assert done.returncode == 126
    assert words in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a file away")
def test_a_setuid_program_is_refused(tmp_path):
    program = compiled(tmp_path, "int main(void) { return 0; }\n")
    os.chown(program, 12345, -1)
    program.chmod(0o4755)
    done = straightway("run", program)
    assert done.returncode == 126
    assert "setuid" in done.stderr


@pytest.mark.parametrize("cut", [17, 40, 64, 200, 700])
def test_a_damaged_program_crashes_nothing(tmp_path, cut):
    program = compiled(tmp_path, "int main(void) { return 0; }\n")
    program.write_bytes(program.read_bytes()[:cut])
    done = straightway("run", program)
    assert done.returncode == 126


def test_a_missing_library_is_named():
    done = straightway("run", "true", STRAIGHTWAY_LIB="/nowhere/lib.so")
    assert done.returncode == 1
    assert "/nowhere/lib.so" in done.stderr


# What the program gets --------------------------------------------------

def variables(*arguments, **changes):
    done = straightway("run", *arguments, "env", **changes)
    assert done.returncode == 0, done.stderr
    return dict(line.split("=", 1) for line in done.stdout.splitlines()
                if "=" in line)


def test_the_library_comes_first_and_others_stay():
    ours = library()
    assert variables()["LD_PRELOAD"] == ours
    libc = subprocess.run(["cc", "-print-file-name=libm.so.6"], text=True,
                          capture_output=True).stdout.strip()
    assert variables(LD_PRELOAD=libc)["LD_PRELOAD"] == f"{ours}:{libc}"
    assert variables(LD_PRELOAD=ours)["LD_PRELOAD"] == ours


def test_every_setting_is_an_option():
    table = (ROOT / "src/node/base/settings.def").read_text()
    found = re.findall(r"^SW_(?:INNER_)?SETTING\((\w+), \w+, (\w+),", table,
                       re.M)
    assert len(found) > 10
    for kind, name in found:
        option = "--" + name.lower().replace("_", "-")
        value = {"BOOL": "off", "SIZE": "64k", "INT": "3",
                 "AUTO_BOOL": "auto", "AUTO_SIZE": "auto", "AUTO_INT": "auto",
                 "NONE_INT": "none",
                 "TEXT": {"SHOW": "eager", "HANG_AFTER": "10m",
                          "HANG_ACTION": "abort"}.get(name, "bcast")}
        got = variables(f"{option}={value[kind]}")
        assert got["STRAIGHTWAY_" + name] == value[kind]
        if kind == "BOOL":
            got = variables(option)
            assert got["STRAIGHTWAY_" + name] == "on"
            got = variables("--no-" + option[2:])
            assert got["STRAIGHTWAY_" + name] == "off"
        else:
            got = variables(option, value[kind])
            assert got["STRAIGHTWAY_" + name] == value[kind]


def test_old_numbers_are_taken_and_other_words_refused():
    assert variables("--agent", "-1")["STRAIGHTWAY_AGENT"] == "-1"
    assert variables("--agent", "1")["STRAIGHTWAY_AGENT"] == "1"
    assert variables("--p2p-min", "0")["STRAIGHTWAY_P2P_MIN"] == "0"
    for option, wanted in (("--agent", "auto, on or off"),
                           ("--spin-us", "auto, or a whole number"),
                           ("--p2p-min", "auto, or a size such as"),
                           ("--node-size", "none, or a whole number")):
        done = straightway("run", option, "often", "true")
        assert done.returncode == 2
        assert f"{option} often: give {wanted}" in done.stderr


def test_settings_of_tests_are_not_in_the_help():
    text = straightway("run", "--help").stdout
    assert "--spin-us" in text
    for name in ("refuse", "node-size", "whatif"):
        assert f"--{name}" not in text and f"]{name}" not in text


def test_a_mode_of_sharing_that_does_not_exist():
    done = straightway("run", "--show", "true")
    assert done.returncode == 2
    assert "--show true: give lazy, eager or off" in done.stderr
    assert "--dry-run" in done.stderr


def test_options_after_the_program_are_the_programs():
    done = straightway("run", "--stats", "echo", "--stats", "-n", "2", "--")
    assert done.stdout == "--stats -n 2 --\n"
    done = straightway("run", "--", "echo", "x")
    assert done.stdout == "x\n"


def test_status_and_signals_are_the_programs():
    assert straightway("run", "sh", "-c", "exit 7").returncode == 7
    done = straightway("run", "sh", "-c", "kill -TERM $$")
    assert done.returncode == -signal.SIGTERM


def test_a_script_without_a_first_line_runs(tmp_path):
    script = tmp_path / "script"
    script.write_text("echo from the script\n")
    script.chmod(0o755)
    assert straightway("run", script).stdout == "from the script\n"


def test_python_keeps_its_environment():
    done = straightway("run", sys.executable, "-c",
                       "import sys; print(sys.prefix)")
    assert done.stdout.strip() == sys.prefix


def test_run_needs_no_python():
    done = straightway("run", "/bin/true", PATH="/nowhere",
                       STRAIGHTWAY_PYTHON="/nowhere/python3")
    assert done.returncode == 0, done.stderr


# With -n ----------------------------------------------------------------

def launch(host, *arguments, **changes):
    return patience.run([COMMAND, "run", *map(str, arguments)], text=True,
                        capture_output=True, timeout=60,
                        env=host.environment(changes))


def test_the_launcher_is_the_programs_own(host):
    program = host.compile(HELLO)
    done = launch(host, "-n", 2, "--dry-run", program)
    assert done.returncode == 0, done.stderr
    launcher = pathlib.Path(done.stdout.split()[0])
    own = pathlib.Path(host.mpirun)
    assert launcher.parent.resolve() == own.parent.resolve()
    if own.name.count("."):         # mpirun.openmpi beside mpirun.mpich
        assert launcher.name.split(".", 1)[1] in (
            own.name.split(".", 1)[1], "hydra")


def test_a_launcher_is_never_named_by_a_link_to_its_folder(tmp_path):
    """/bin leads to /usr/bin, and a script's interpreter lies in /bin: Open
    MPI would take / for its installation, and refuse it."""
    if not os.path.islink("/bin") or not os.path.exists("/usr/bin/mpiexec"):
        pytest.skip("no launcher in /usr/bin, or /bin is a folder of its own")
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    for path in ("/bin:/usr/bin", "/usr/bin:/bin"):
        done = straightway("run", "-n", "2", "--dry-run", script, PATH=path,
                           OMPI_ALLOW_RUN_AS_ROOT="1",
                           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        assert done.stdout.startswith("/usr/bin/mpiexec"), done.stderr


def test_the_ranks_form_one_world(host):
    program = host.compile(HELLO)
    for n in (2, 3):
        done = launch(host, "-n", n, program)
        assert done.returncode == 0, done.stderr
        assert sorted(done.stdout.split("\n"))[1:] == [
            f"rank {r} of {n}" for r in range(n)]


def test_another_mpis_hydra_is_first_in_path(host, tmp_path):
    decoy = tmp_path / "mpiexec.hydra"
    decoy.write_text("#!/bin/sh\necho the wrong hydra\n")
    decoy.chmod(0o755)
    done = launch(host, "-n", 2, host.compile(HELLO),
                  PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert done.returncode == 0, done.stderr
    assert "rank 1 of 2" in done.stdout


def test_the_programs_status_comes_back(host):
    assert launch(host, "-n", 2, host.compile(HELLO), "fail").returncode == 3


def test_settings_reach_the_ranks(host):
    done = launch(host, "-n", 2, "--mpi", host.mpirun, "--only", "a,b",
                  "--no-arena", "env")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("STRAIGHTWAY_ONLY=a,b\n") == 2
    assert done.stdout.count("STRAIGHTWAY_ARENA=off\n") == 2


def test_launcher_arguments_are_split_like_a_shells(host):
    done = launch(host, "-n", 1, "--mpi", host.mpirun, "--dry-run",
                  "--launcher-args", "-x 'A=b c' -y \"d e\" f\\ g", "true")
    assert "-x 'A=b c' -y 'd e' 'f g' -n 1" in done.stdout


def test_more_ranks_than_cores_are_asked_of_open_mpi(host):
    program = host.compile(HELLO)
    many = 4 * os.cpu_count() + 1
    env = {"PRTE_MCA_rmaps_default_mapping_policy": None,
           "OMPI_MCA_rmaps_base_oversubscribe": None, "SLURM_JOB_ID": None}
    done = launch(host, "-n", many, "--dry-run", program, **env)
    assert ("--oversubscribe" in done.stdout) == (host.flavour == "ompi")
    done = launch(host, "-n", 1, "--dry-run", program, **env)
    assert "--oversubscribe" not in done.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="for root alone")
def test_open_mpi_as_root_is_explained(host):
    if host.flavour != "ompi":
        pytest.skip("Open MPI alone refuses root")
    done = launch(host, "-n", 2, host.compile(HELLO),
                  OMPI_ALLOW_RUN_AS_ROOT=None)
    assert done.returncode == 1
    assert "OMPI_ALLOW_RUN_AS_ROOT=1" in done.stderr


def test_n_inside_a_launcher_is_refused(host):
    done = host.run(1, ["-n", "2", "true"])
    assert done.returncode != 0
    assert "leave -n out" in done.stderr + done.stdout


def test_the_command_knows_every_command_of_python():
    """The native command hands them on, and its help lists them."""
    shown = subprocess.run([COMMAND, "--help"], text=True,
                           capture_output=True, check=True).stdout
    for name in commands.CLASSES:
        assert f"\n  {name} " in shown
        done = subprocess.run([COMMAND, name, "--help"], text=True,
                              capture_output=True)
        assert done.returncode == 0 and name in done.stdout
