"""Three kinds of experiment: what do collective operations cost a program?

    .venv/bin/python examples/kernels/experiments.py [-n RANKS] [--out FOLDER]

Riesen, Vaughan and Hoefler asked this in 2006. They ran programs three ways:
normally; simulated, to see the error of the simulation; and simulated with
collectives that cost nothing. They found three kinds: the NAS benchmarks, which
hardly gain; a tight loop of Alltoall, which gains everything; and a plane-wave
code, which spends about half of its time in collectives.

This program asks the same of the kernels beside it. `straightway whatif` runs
each of them normally and simulated, and replays its record with free
collectives. Tables go to stdout, and with plots and all numbers to FOLDER:

    experiments.md, experiments.json, gains.svg, micro.svg

`--network NAME` adds another network (a preset of straightway whatif), with
one rank on each node. `--micro` adds single collectives of 8 bytes to 4 MiB,
simulated and normal. The MPI is that of --mpi (an installation's folder), else
the mpicc of PATH, else .hosts/openmpi. The exit status is 0 only when all runs
verified their results.
"""
import argparse
import datetime
import json
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import figures
import tables

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import installed  # noqa: E402 (beside demo.py)

SCHEMA = "straightway-experiments/1"
# What it stands for, arguments of a --quick run, collectives to free alone.
KERNELS = {
    "ft": ("NAS kind", ["64", "24"], ["alltoall"]),
    "is": ("NAS kind", ["524288", "40"], ["alltoallv"]),
    "mg": ("NAS kind", ["64", "6"], []),
    "cg": ("NAS kind", ["32768", "12"], ["allreduce"]),
    "alltoall": ("Alltoall loop", ["65536", "3000"], []),
    "planewave": ("plane waves", ["16", "8", "300"],
                  ["alltoall", "allreduce"]),
}
# Of our settings, those that say where parts of Straightway are.
PLACES = "STRAIGHTWAY_LIB", "STRAIGHTWAY_COMMAND", "STRAIGHTWAY_PYTHON"
THERE, THERE_FREE = "there", "there, collectives free"      # titles
OWN = re.compile(r"(\w+): \d+ ranks, [^,\n]+, (\d+\.\d+) s, (\w+ ?\w*)$",
                 re.M)
CALL = re.compile(r"micro: \d+ ranks, (\w+) (\d+) bytes, (\d+\.\d+) us "
                  r"\(.*?\), \d+ calls, (\w+ ?\w*)$", re.M)


class Trouble(Exception):
    """The reason why the experiments stopped, and the remedy."""


def options():
    p = argparse.ArgumentParser(
        description="The kernels normally, simulated, and with free "
                    "collectives.")
    p.add_argument("-n", type=int, default=2, metavar="RANKS",
                   help="ranks, a power of two (2)")
    p.add_argument("--mpi", metavar="FOLDER",
                   help="the MPI's installation (that of mpicc in PATH)")
    p.add_argument("--model", action="append", default=[], metavar="NAME",
                   help="of straightway whatif (measured)")
    p.add_argument("--network", metavar="NAME",
                   help="also predict this network, one rank a node")
    p.add_argument("--runs", type=int, default=3, metavar="R",
                   help="normal runs of each (3)")
    p.add_argument("--only", metavar="NAME,...",
                   help="of " + ", ".join(KERNELS))
    p.add_argument("--quick", action="store_true",
                   help="small problems, for a trial")
    p.add_argument("--micro", action="store_true",
                   help="also single collectives")
    p.add_argument("--out", metavar="FOLDER", help="write files there")
    p.add_argument("--from", metavar="FILE.json", dest="saved",
                   help="no runs: tables and plots of an experiments.json")
    p.add_argument("--timeout", type=float, default=900, metavar="SECONDS",
                   help="end a kernel that takes more seconds (900)")
    args = p.parse_args()
    args.only = args.only.split(",") if args.only else list(KERNELS)
    for name in args.only:
        if name not in KERNELS:
            p.error(f"--only {name}: there are " + ", ".join(KERNELS))
    if args.n < 1 or args.n & (args.n - 1):
        p.error(f"-n {args.n}: a power of two is needed (ft, mg, cg and "
                "planewave divide their grids so)")
    if args.runs < 1:
        p.error("--runs must be at least 1")
    return args


def find_mpi(folder):
    """(mpicc, installation)"""
    own = HERE.parent.parent / ".hosts" / "openmpi"
    if folder:
        places = [Path(folder).expanduser()]
    elif shutil.which("mpicc"):
        places = [Path(shutil.which("mpicc")).parent.parent]
    else:
        places = [own]
    # Intel MPI: mpicc is for its own compiler where there is mpigcc.
    for place in places:
        for name in "mpigcc", "mpicc":
            if (place / "bin" / name).exists():
                return place / "bin" / name, place.absolute()
    raise Trouble(f"no mpicc in {places[0] / 'bin'}: name an MPI with --mpi, "
                  "or run `make hosts`, which installs some")


def environment(prefix):
    """Its libraries are found, and no setting changes what is measured."""
    env = {k: v for k, v in os.environ.items()
           if k in PLACES or not k.startswith(("STRAIGHTWAY_",
                                               "LD_PRELOAD"))}
    if prefix != Path("/usr"):
        libs = [str(prefix / "lib")]
        if (prefix / "bin" / "impi_info").exists():
            env.setdefault("I_MPI_ROOT", str(prefix))
        env["PATH"] = f"{prefix / 'bin'}:{env.get('PATH', '')}"
        if env.get("LD_LIBRARY_PATH"):
            libs.append(env["LD_LIBRARY_PATH"])
        env["LD_LIBRARY_PATH"] = ":".join(libs)
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        env["OMPI_ALLOW_RUN_AS_ROOT"] = "1"
        env["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    return env


def call(words, env, timeout):
    try:
        done = subprocess.run(words, env=env, text=True, errors="replace",
                              capture_output=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Trouble(f"took longer than {timeout:g} s (--timeout): "
                      + shlex.join(words)) from None
    except OSError as error:
        raise Trouble(f"{words[0]}: {error.strerror}") from None
    if done.returncode:
        raise Trouble(f"exit status {done.returncode}: {shlex.join(words)}\n"
                      + done.stdout[-1500:] + done.stderr[-3000:])
    return done.stdout


class Laboratory:
    """Compiles the kernels and lets `straightway whatif` run them."""

    def __init__(self, args, folder):
        self.args, self.folder = args, Path(folder)
        self.straightway = installed.command()
        if not self.straightway:
            raise Trouble("there is no `straightway` beside this Python nor "
                          "in PATH: run `make setup`, which builds it")
        self.mpicc, self.mpi = find_mpi(args.mpi)
        self.env = environment(self.mpi)

    def compile(self, name):
        program = self.folder / name
        call([str(self.mpicc), "-std=c17", "-O3", "-o", str(program),
              str(HERE / f"{name}.c"), "-lm"], self.env, 300)
        return program

    def whatif(self, program, arguments, frees, runs):
        """(the command's report, the program's output)"""
        out = self.folder / "report.json"
        words = [self.straightway, "whatif", "-n", str(self.args.n),
                 "--runs", str(runs), "--show-output", "--json", str(out),
                 "--mpi", str(self.mpi)]
        for name in self.args.model:
            words += ["--model", name]
        for name in frees:
            words += ["--free", name]
        if self.args.network:
            there = (f"network={self.args.network} nodes={self.args.n} "
                     "ranks-per-node=1")
            words += ["--experiment", f"{THERE}: {there}",
                      "--experiment", f"{THERE_FREE}: {there} free=all"]
        said = call([*words, "--", str(program), *arguments], self.env,
                    self.args.timeout)
        try:
            report = json.loads(out.read_text())
            out.unlink()
        except (OSError, ValueError) as error:
            raise Trouble(f"{shlex.join(words)} left no JSON: {error}") \
                from None
        return report, said

    def kernel(self, name):
        kind, quick, frees = KERNELS[name]
        arguments = quick if self.args.quick else []
        report, said = self.whatif(self.compile(name), arguments, frees,
                                   self.args.runs)
        printed = OWN.findall(said)
        if not printed:
            raise Trouble(f"{name} printed no result:\n" + said[-2000:])
        # The run in virtual time is the first, normal ones follow.
        own = [float(seconds) for _, seconds, _ in printed]
        return {"name": name, "kind": kind, "arguments": arguments,
                "verified": all(v == "VERIFIED" for *_, v in printed),
                "own_simulated_s": own[0], "own_normal_s": own[1:],
                "whatif": report}

    def micro(self):
        program = self.compile("micro")
        report, said = self.whatif(
            program, ["all", "0", "5"] if self.args.quick else [], [],
            self.args.runs)
        cells = {}
        for operation, size, us, verdict in CALL.findall(said):
            cell = cells.setdefault((operation, int(size)), [])
            cell.append((float(us), verdict == "VERIFIED"))
        if not cells:
            raise Trouble("micro printed no result:\n" + said[-2000:])
        return [{"operation": operation, "bytes": size,
                 "simulated_us": cell[0][0],
                 "normal_us": [us for us, _ in cell[1:]],
                 "verified": all(good for _, good in cell)}
                for (operation, size), cell in cells.items()]


def conduct(args):
    """All runs; the report."""
    with tempfile.TemporaryDirectory() as folder:
        laboratory = Laboratory(args, folder)
        kernels, micro = [], []
        for name in args.only:
            print(f"{name} ...", file=sys.stderr, flush=True)
            kernels.append(laboratory.kernel(name))
        if args.micro:
            print("micro ...", file=sys.stderr, flush=True)
            micro = laboratory.micro()
    first = kernels[0]["whatif"]
    return {"schema": SCHEMA, "ranks": args.n, "mpi": first["mpi"],
            "models": first["models"], "network": args.network,
            "machine": first["machine"],
            "date": datetime.date.today().isoformat(),
            "quick": args.quick, "kernels": kernels, "micro": micro}


def load(path):
    try:
        report = json.loads(Path(path).read_text())
    except OSError as error:
        raise Trouble(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise Trouble(f"{path}: no JSON: {error}") from None
    if not isinstance(report, dict) or report.get("schema") != SCHEMA:
        raise Trouble(f"{path}: no {SCHEMA}; experiments.py --out FOLDER "
                      "writes one")
    return report


def ratios(simulated, free):
    return {"simulated": simulated, "free": free,
            "gain": simulated / free if free > 0 else None,
            "share": 1 - free / simulated if simulated > 0 else 0.0}


def summarise(report):
    """Rows of numbers for the tables and the figures."""
    for one in report["kernels"]:
        w = one["whatif"]
        simulated = w["baseline"]["time_s"]
        free = w["bounds"]["collectives"]["time_s"]
        titles = {e["title"]: e for e in w["experiments"]}
        there = [titles[t]["time_s"] for t in (THERE, THERE_FREE)] \
            if report["network"] else None
        own = statistics.median(one["own_normal_s"]) \
            if one["own_normal_s"] and w["measured"] else None
        one["row"] = {
            "normal": w["measured"] and w["measured"]["median_s"],
            "error": w["error"], **ratios(simulated, free),
            "own_normal": own,
            "own_error": own and one["own_simulated_s"] / own - 1,
            "there": there and ratios(*there),
            "frees": [(title, e["ratio"]) for title, e in titles.items()
                      if title not in (THERE, THERE_FREE)]}
    for cell in report["micro"]:
        normal = statistics.median(cell["normal_us"]) \
            if cell["normal_us"] else None
        cell["row"] = {"normal": normal, "error":
                       cell["simulated_us"] / normal - 1 if normal else None}
    return report


def main():
    args = options()
    if args.out:                    # before anything runs
        Path(args.out).mkdir(parents=True, exist_ok=True)
    report = load(args.saved) if args.saved else conduct(args)
    text = json.dumps(report, indent=1)
    summarise(report)
    print(tables.render(report))
    if args.out:
        out = Path(args.out)
        (out / "experiments.json").write_text(text + "\n")
        (out / "experiments.md").write_text(tables.render(report, True))
        (out / "gains.svg").write_text(figures.gains(report))
        if report["micro"]:
            (out / "micro.svg").write_text(figures.micro(report))
    spoilt = [one["name"] for one in report["kernels"]
              if not one["verified"]]
    if not all(cell["verified"] for cell in report["micro"]):
        spoilt.append("micro")
    if spoilt:
        raise Trouble("wrong results, NOT VERIFIED: " + ", ".join(spoilt))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Trouble as trouble:
        print(f"experiments: {trouble}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
