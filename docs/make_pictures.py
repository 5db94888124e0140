"""Pictures of the reports, made by today's code.

    sh packaging/with_mpi.sh .venv/bin/python .venv/bin/python \\
        docs/make_pictures.py build/pictures

make docs runs this. FOLDER/_images gets the pictures under the names of those
in docs/plots, and FOLDER/reports the whole pages: the site takes them in place
of the committed ones. What cannot be made here keeps the committed picture,
and a line says why. To renew the committed ones:

    cp build/pictures/_images/* docs/plots
"""

import argparse
import contextlib
import html
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
COMMAND = pathlib.Path(sys.executable).parent / "straightway"
FLOW = ["python", "examples/taylor_green", "--n", "32", "--steps", "60"]
LATE = """\
import time
from mpi4py import MPI


def step(comm):
    comm.Barrier()


def read_input():
    time.sleep(600)


for number in range(5):
    if number == 4 and MPI.COMM_WORLD.rank == 1:
        read_input()
    step(MPI.COMM_WORLD)
"""
COLUMN, ROW, SIZE = 7.8, 18, 13     # pixels


def straightway(*words, **keywords):
    """The output of a command; what it says goes to a file."""
    done = subprocess.run([COMMAND, *words], text=True, timeout=600,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          env={**os.environ, "COLUMNS": "80", "PATH":
                               f"{COMMAND.parent}:{os.environ['PATH']}"},
                          **keywords)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise RuntimeError(lines[0])
    return done.stdout


def terminal(command, text):
    """An SVG of a terminal with a command and its output."""
    lines = [f"$ {command}", *text.rstrip().splitlines()]
    width = COLUMN * max(map(len, lines)) + 32
    rows = "".join(
        f'<text x="16" y="{ROW * number + 30}" xml:space="preserve" '
        f'textLength="{COLUMN * len(line):.1f}">{html.escape(line)}</text>\n'
        for number, line in enumerate(lines) if line)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" '
            f'viewBox="0 0 {width:.0f} {ROW * len(lines) + 32}" '
            f'font-family="monospace" font-size="{SIZE}" fill="#dde">\n'
            f'<rect width="100%" height="100%" rx="6" fill="#1c1e26"/>\n'
            f"{rows}</svg>\n")


# The reports: each writes pages into `reports`, or returns a terminal ---------

def profile(folder, reports):
    straightway("profile", "-n", "2", "-o", folder / "flow.swcap", *FLOW,
                cwd=folder)
    straightway("report", folder / "flow.swcap", "--html",
                reports / "profile.html")


def study(folder, reports):
    straightway("study", "-n", "2", "--html", reports / "study.html", *FLOW,
                cwd=folder)


def whatif(folder, reports):
    # An estimate of one node, at once: this machine's own takes minutes.
    straightway("whatif", "run", "-n", "2", "--model", "node", "--cpu-speed",
                "2", "--html", reports / "whatif.html", *FLOW, cwd=folder)


def bench(folder, reports):
    words = ["bench", "collectives", "-n", "2", "--ops",
             "barrier,bcast,allreduce,alltoall", "--sizes", "8,16k,1m",
             "--seconds", "0.2"]
    return " ".join(["straightway", *words]), straightway(*words)


def where(folder, reports):
    program = folder / "late.py"
    program.write_text(LATE)
    job = subprocess.Popen(
        ["mpirun", "-n", "2", COMMAND, "run", sys.executable, program],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    try:
        text, end = "", time.monotonic() + 60
        while "rank 0 waits" not in text and time.monotonic() < end:
            time.sleep(1)
            with contextlib.suppress(RuntimeError):
                text = straightway("where", str(job.pid))
    finally:
        job.terminate()
        job.wait()
    if not text:
        raise RuntimeError("the job was not found")
    return "straightway where", text


def topo(folder, reports):
    return "straightway topo", straightway("topo")


def photograph(page, out):
    """A picture of the first screen of a page."""
    done = subprocess.run([sys.executable, HERE / "make_picture.py", page,
                           out], text=True, capture_output=True, timeout=120)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])


def make(report, folder, images, reports):
    shown = report(folder, reports)
    name = f"picture-{report.__name__}"
    if shown:
        (images / f"{name}.svg").write_text(terminal(*shown))
    else:
        photograph(reports / f"{report.__name__}.html", images / f"{name}.png")


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("folder", metavar="FOLDER", type=pathlib.Path)
    out = p.parse_args().folder.resolve()
    shutil.rmtree(out, ignore_errors=True)
    images, reports = out / "_images", out / "reports"
    images.mkdir(parents=True)
    reports.mkdir()
    for report in (topo, profile, where, bench, study, whatif):
        with tempfile.TemporaryDirectory(prefix="straightway-") as folder:
            (pathlib.Path(folder) / "examples").symlink_to(ROOT / "examples")
            try:
                make(report, pathlib.Path(folder), images, reports)
            except (OSError, RuntimeError,
                    subprocess.TimeoutExpired) as why:
                print(f"docs: the picture of {report.__name__} is the "
                      f"committed one: {why}", file=sys.stderr)


if __name__ == "__main__":
    main()
