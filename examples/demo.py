"""The Taylor-Green vortex on the MPI alone and with Straightway.

    .venv/bin/python examples/demo.py [-n RANKS] [--repeats R] [--small]
                                      [--study PAGE.html]

The demo runs examples/taylor_green under the same launcher with the same ranks.
MPI and Straightway take turns, so that other load on the machine falls on both
alike. Every run checks its own physics. All runs must end
with the same field bit for bit, because MPI_Alltoall only moves data. Another
library may add up the sums of the diagnostics (MPI_Allreduce) in another order:
they must agree to round-off.

With --study, one short run on each side proves that the results agree. Their
times prove nothing: separate runs differ by more than the gain on a busy
machine.
`straightway study` of the same solver follows, in which the two take turns
within one run. It gives a page, and the demo ends with one sentence: the gain
and its 95 % interval.

The launcher is $MPIEXEC, else bin/mpiexec of $STRAIGHTWAY_DEMO_MPI, else
mpiexec from PATH, else .hosts/openmpi. The exit status is 0 only when every
run succeeded, the physics held and all results agreed.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import installed

HERE = Path(__file__).resolve().parent
ROUND_OFF = 1e-13
PROOF = 40      # steps of a run that proves results; each waits for busy cores


class DemoError(Exception):
    """The reason why the demo stopped, and the remedy."""


def options():
    p = argparse.ArgumentParser(
        description="A flow simulation on the MPI alone and with "
                    "Straightway: same results, both times.")
    p.add_argument("-n", type=int, default=2, metavar="RANKS",
                   help="ranks; must divide the grid (2)")
    p.add_argument("--repeats", type=int, metavar="R",
                   help="runs on each side (3; with --study 1)")
    p.add_argument("--grid", type=int, metavar="N",
                   help="grid points along each edge (64)")
    p.add_argument("--steps", type=int, metavar="S",
                   help="time steps (200; with --study 150)")
    p.add_argument("--small", action="store_true",
                   help="a small problem for its ranks: 32^3 points, 600 "
                        "steps, so that communication weighs more")
    p.add_argument("--timeout", type=float, default=600, metavar="SECONDS",
                   help="end a run that takes more seconds (600)")
    p.add_argument("--study", metavar="PAGE.html",
                   help="end with straightway study, and write its page")
    args = p.parse_args()
    grid, steps = (32, 600) if args.small else \
        (64, 150 if args.study else 200)
    args.grid = args.grid or grid
    args.steps = args.steps or steps
    if args.repeats is None:
        args.repeats = 1 if args.study else 3
    if args.n < 1 or args.repeats < 1:
        p.error("-n and --repeats must be at least 1")
    if args.grid % args.n:
        p.error(f"-n must divide the grid, {args.grid}")
    return args


def find_launcher():
    """(command, kind) of the launcher."""
    prefix = os.environ.get("STRAIGHTWAY_DEMO_MPI")
    own = HERE.parent / ".hosts" / "openmpi" / "bin" / "mpiexec"
    if os.environ.get("MPIEXEC"):
        launcher = shutil.which(os.environ["MPIEXEC"])
    elif prefix:
        launcher = shutil.which(os.path.join(prefix, "bin", "mpiexec"))
    else:
        launcher = shutil.which("mpiexec") or shutil.which(str(own))
    if not launcher:
        raise DemoError("no MPI launcher (mpiexec) was found: run `make "
                        "demo`, which installs one, or set MPIEXEC")
    said = subprocess.run([launcher, "--version"], capture_output=True,
                          text=True, timeout=60)
    said = (said.stdout + said.stderr).lower()
    open_mpi = any(word in said for word in ("open mpi", "open-mpi",
                                             "openrte", "prrte", "prterun"))
    return launcher, "openmpi" if open_mpi else "mpich"


def library_of(launcher, kind):
    """(prefix, library) that belong to the launcher. mpi4py, left alone,
    takes the first library it finds; with another MPI's launcher every rank
    would then be alone in a world of one."""
    names = (["libmpi.so.40"] if kind == "openmpi"
             else ["libmpi.so.12", "libmpich.so.12"])
    # Launchers may be links to a wrapper elsewhere: the path as given first.
    for path in (Path(launcher).absolute(), Path(launcher).resolve()):
        root = path.parent.parent
        libs = [root / "lib", root / "lib64", root / "lib" / "release"]
        libs += sorted(root.glob("lib/*-linux-gnu"))
        for library in (lib / name for name in names for lib in libs):
            if library.exists():
                return root, library
    return None, None


def environment(args, launcher, kind, folder):
    """The environment of both sides, and what was changed in it."""
    env, said = dict(os.environ), []
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                 "MKL_NUM_THREADS"):
        env[name] = "1"         # one thread a rank, as in any MPI run
    for name in list(env):      # the two sides must differ in one thing only
        if name == "LD_PRELOAD" or (name.startswith("STRAIGHTWAY_")
                                    and name != "STRAIGHTWAY_LIB"):
            del env[name]
    root, library = library_of(launcher, kind)
    if library:
        lib = library.parent
        if library.name == "libmpich.so.12":
            # Debian's name for what mpi4py asks for as libmpi.so.12.
            lib = folder / "lib"
            lib.mkdir()
            (lib / "libmpi.so.12").symlink_to(library)
        env.setdefault("MPI4PY_MPIABI", kind)
        env.setdefault("MPI4PY_LIBMPI", str(library))
        if str(root) != "/usr" or lib != library.parent:
            old = env.get("LD_LIBRARY_PATH")
            env["LD_LIBRARY_PATH"] = str(lib) + (":" + old if old else "")
        if (root / "bin" / "impi_info").exists():
            env.setdefault("I_MPI_ROOT", str(root))
    if kind == "openmpi" and os.geteuid() == 0:
        env["OMPI_ALLOW_RUN_AS_ROOT"] = "1"
        env["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
        said.append("Open MPI is allowed to run as root, for these runs.")
    cores = len(os.sched_getaffinity(0))
    if args.n > cores:
        env["OMPI_MCA_rmaps_base_oversubscribe"] = "1"
        env["PRTE_MCA_rmaps_default_mapping_policy"] = ":oversubscribe"
        said.append(f"{args.n} ranks share {cores} cores (oversubscribed): "
                    "no time for a real machine.")
    return env, said


def finished(command, env, timeout):
    """The completed process of a command that ends in time."""
    try:
        return subprocess.run(command, env=env, capture_output=True,
                              text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise DemoError(f"a run took longer than {timeout:g} s:\n  "
                        + " ".join(command)) from None


def failure(done, command):
    """The error that a run has failed, with what it said."""
    return DemoError(f"this run failed (exit status {done.returncode}):\n  "
                     + " ".join(command) + "\n" + done.stdout[-2000:]
                     + done.stderr[-4000:])


def run(command, env, timeout, result):
    """One run of the solver; returns (what it wrote, its stderr)."""
    done = finished(command, env, timeout)
    data = None
    try:
        data = json.loads(result.read_text())
        result.unlink()
    except (OSError, ValueError):
        pass
    if data is None or (done.returncode and data["good"]):
        raise failure(done, command)
    return data, done.stdout, done.stderr


def turns(args, commands):
    """(turn, side, command) of each run. The sides take turns, so that other
    load on the machine falls on both alike."""
    for turn in range(args.repeats):
        for name, command in commands.items():
            yield turn, name, command


def say_run(args, turn, name, seconds):
    print(f"  run {turn + 1} of {args.repeats}  {name:12}{seconds:8.3f} s",
          flush=True)


def installed_command(target):
    """The straightway command."""
    straightway = installed.command()
    if not straightway:
        raise DemoError("there is no `straightway` beside this Python nor in "
                        f"PATH: run `make {target}`, which builds it")
    return straightway


def check_loaded(stats):
    """Check that a run with Straightway printed its statistics."""
    if "straightway" not in stats.lower():
        raise DemoError("`straightway run --stats` printed no statistics: "
                        "the library was not loaded; `straightway doctor` "
                        "says why\n" + stats)


def end_with(main):
    """Run a demo, and end with its status; errors begin with its name."""
    try:
        sys.exit(main())
    except DemoError as error:
        print(f"{Path(sys.argv[0]).stem}: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


def spread(values):
    return (f"{statistics.median(values):8.3f}"
            f"   ({min(values):.3f} to {max(values):.3f})")


def agree(runs):
    """Whether all runs agree; says on what."""
    first, fields, worst = runs[0], len({r["field"] for r in runs}), 0.0
    for other in runs[1:]:
        for a, b in zip(first["history"], other["history"]):
            for key in ("energy", "dissipation"):
                worst = max(worst, abs(a[key] - b[key]) / abs(a[key]))
    print(f"  final field, all {len(runs)} runs:     "
          + ("the same bits" if fields == 1
             else f"{fields} different results: FAILED"))
    print("  energy and dissipation:      "
          + ("the same bits" if worst == 0 else f"within {worst:.1e}")
          + ("" if worst <= ROUND_OFF else ": FAILED"))
    return fields == 1 and worst <= ROUND_OFF


def report(sides):
    """The table of times."""
    print("\nSeconds, median of the runs (lowest to highest)\n")
    medians = {}
    for name, runs in sides.items():
        times = [r["time"] for r in runs]
        talk = [t["alltoall"] + t["allreduce"] for t in times]
        total = [t["total"] for t in times]
        medians[name] = {"total": statistics.median(total),
                         "talk": statistics.median(talk)}
        print(f"  {name}")
        print(f"    whole run       {spread(total)}")
        print(f"    communication   {spread(talk)}   "
              f"{statistics.median(talk) / statistics.median(total):.1%}")
    host, ours = medians.values()
    host_all, ours_all = ([r["time"]["total"] for r in runs]
                          for runs in sides.values())
    print(f"\n  whole run:      {host['total'] / ours['total']:.2f} times as "
          "fast with Straightway")
    if ours["talk"] > 0:
        print(f"  communication:  {host['talk'] / ours['talk']:.2f} times as "
              "fast (waiting for other ranks included)")
    if (len(host_all) > 1 and min(host_all) <= max(ours_all)
            and min(ours_all) <= max(host_all)):
        print("\n  The runs of the two sides overlap: by these times alone "
              "they are not\n  told apart. A quiet machine or more "
              "--repeats help.")


def study(args, straightway, launcher, program, env):
    """straightway study of the solver; its page is in args.study. Returns the
    report."""
    print("\nThe study: the same solver, on the MPI alone and with Straightway "
          "in turns\n(once, this machine is measured for some 20 s first)\n",
          flush=True)
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "study.json"
        command = [straightway, "study", "-n", str(args.n), "--mpi", launcher,
                   "--html", args.study, "--json", str(result),
                   "--timeout", f"{args.timeout:g}", "--"] + program
        run_study(args, command, env)
        return json.loads(result.read_text())


def run_study(args, command, env):
    try:
        done = subprocess.run(command, env=env,
                              timeout=20 * args.timeout)
    except subprocess.TimeoutExpired:
        raise DemoError("the study does not end:\n  "
                        + " ".join(command)) from None
    if done.returncode:
        raise DemoError(f"the study failed (exit status {done.returncode}):"
                        "\n  " + " ".join(command))


def result_of(report):
    """The study's result, in one sentence where it tells."""
    turned = report["turns"]
    if report["measured"]["how"] == "turns" and turned["apart"]:
        gain, *ends = (100 * turned[name] for name in ("gain", "low", "high"))
        low, high = sorted(map(abs, ends))
        return (f"Straightway makes this run {abs(gain):.1f} % "
                f"{'shorter' if gain > 0 else 'longer'} "
                f"(95 % interval: {low:.1f} % to {high:.1f} %).")
    from straightway.study import sentences
    return " ".join(sentences.verdict(report)[:2 if turned["why"] else 1])


def main():
    args = options()
    straightway = installed_command("demo")
    launcher, kind = find_launcher()
    with tempfile.TemporaryDirectory() as folder:
        env, said = environment(args, launcher, kind, Path(folder))
        result = Path(folder) / "result.json"
        solver = [sys.executable, str(HERE / "taylor_green"),
                  "--n", str(args.grid), "--steps"]
        steps = min(args.steps, PROOF) if args.study else args.steps
        program = [*solver, str(steps), "--json", str(result)]
        start = [launcher, "-n", str(args.n)]
        commands = {"MPI alone": start + program,
                    "Straightway": start + [straightway, "run", "--stats",
                                            "--"] + program}
        sides = {name: [] for name in commands}
        print(f"Taylor-Green vortex, {args.grid}^3 points, {steps} "
              f"steps, {args.n} ranks, {args.repeats} run"
              f"{'s' * (args.repeats > 1)} on each side")
        for line in said:
            print(line)
        stats = ""
        for turn, name, command in turns(args, commands):
            data, out, err = run(command, env, args.timeout, result)
            if data["ranks"] != args.n:
                raise DemoError(
                    f"{launcher} started {args.n} processes, but their "
                    f"MPI ({data['mpi']}) made a world of "
                    f"{data['ranks']}: launcher and library do not "
                    "belong together; set MPIEXEC and MPI4PY_LIBMPI")
            if not turn and not sides["MPI alone"]:
                print(data["mpi"].split(", package")[0])
                print()
                print(out.split("\n\nTime")[0])
                print()
            if not data["good"]:
                print(out)
                raise DemoError(f"a check of the physics failed ({name})")
            sides[name].append(data)
            say_run(args, turn, name, data["time"]["total"])
            if name == "Straightway":
                stats = err
    check_loaded(stats)
    print("\nAgreement")
    same = agree([r for runs in sides.values() for r in runs])
    if not args.study:
        report(sides)
    print("\nWhat Straightway did in its last run (--stats)\n")
    print(stats.strip())
    if args.study:
        with tempfile.TemporaryDirectory() as folder:
            env, _ = environment(args, launcher, kind, Path(folder))
            found = study(args, straightway, launcher,
                          [*solver, str(args.steps)], env)
    ours = os.path.relpath(straightway)
    if args.study:
        print(f"\nThe whole study, for a browser: {args.study}")
    print(f"\nOn your own program:\n  mpirun -n 8 {ours} run ./app\n"
          f"  {ours} study -n 8 ./app\n"
          f"  {ours} whatif -n 64 --free alltoall ./app")
    if args.study:
        print("\nThe result:\n" + textwrap.fill(
            result_of(found), 78, initial_indent="  ",
            subsequent_indent="  "))
    return 0 if same else 1


if __name__ == "__main__":
    end_with(main)
