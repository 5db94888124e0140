"""A real program, as applications/NAME/program.toml describes it:

    title       what people call it
    packages    Debian's packages that bring it
    command     what each rank runs, in the words of a shell
    prepare     shell commands that make its input or compile it, untimed; RANKS
                has the number of ranks
    env         more variables of the environment
    ranks       the numbers of ranks that it can take; without: any
    file        the file that holds its result; without: its output
    result      patterns: a line in which one is found is a line of the result.
                Of a pattern with groups only the groups are
    tolerance   how far a number may be off, relative to its size
    floor       how far it may be off at least, for numbers that are almost 0
    timer       a pattern whose group is the time that the program itself
                prints, in s; the last one counts

All other files of the folder are its input. Each run gets a copy of them.

Results are equal if they have the same lines: the same words, and numbers that
agree within the tolerance. Without a tolerance every digit counts. Spaces
between words and numbers do not count: a sign may take the place of one.
"""
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys

try:
    import tomllib
except ModuleNotFoundError:             # before Python 3.11
    import tomli as tomllib

LAUNCHER = "mpirun.openmpi"
BASE = ("openmpi-bin", "libopenmpi-dev")    # of every program: gcc comes along
NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?)")


class BadFile(Exception):
    """A program.toml that cannot be read."""


@dataclasses.dataclass(frozen=True)
class Application:
    name: str
    folder: pathlib.Path
    title: str
    packages: list
    command: str
    result: list
    prepare: list = ()
    env: dict = dataclasses.field(default_factory=dict)
    ranks: list = ()
    file: str = None
    tolerance: float = 0.0
    floor: float = 0.0
    timer: str = None

    def fits(self, ranks):
        return not self.ranks or ranks in self.ranks

    def missing(self):
        """The packages that are not installed."""
        return absent([*BASE, *self.packages])

    def install(self, place, ranks, env):
        """Put the input into a folder, and prepare it. CalledProcessError has
        the output of a command that fails."""
        shutil.copytree(self.folder, place)
        for line in self.prepare:
            subprocess.run(["sh", "-e", "-c", line], cwd=place, check=True,
                           env={**env, **self.env, "RANKS": str(ranks)},
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)

    def text(self, output, place):
        """What holds the result, after a run in a folder."""
        if not self.file:
            return output
        path = place / self.file
        return path.read_text(errors="replace") if path.is_file() else ""

    def lines(self, text):
        """The lines of the result in a text."""
        patterns = [re.compile(one) for one in self.result]
        found = []
        for line in text.splitlines():
            for pattern in patterns:
                hit = pattern.search(line)
                if hit:
                    found.append(" ".join(hit.groups()) if pattern.groups
                                 else line.strip())
                    break
        return found

    def own_time(self, *texts):
        """The time that the program prints, if it does."""
        found = re.findall(self.timer, "\n".join(texts), re.M) \
            if self.timer else None
        return float(found[-1]) if found else None

    def difference(self, wanted, found):
        """How two results differ, in words; None: they are equal."""
        if len(wanted) != len(found):
            return f"{len(found)} lines of its result in place of {len(wanted)}"
        for one, two in zip(wanted, found):
            if not self._alike(one, two):
                return f"«{two}» in place of «{one}»"
        return None

    def _alike(self, one, two):
        if one == two:
            return True
        # Words stand at even places, numbers at odd ones.
        one, two = (NUMBER.split(line) for line in (one, two))
        return len(one) == len(two) and all(
            self._close(a, b) if i % 2 else
            "".join(a.split()) == "".join(b.split())
            for i, (a, b) in enumerate(zip(one, two)))

    def _close(self, one, two):
        if one.lstrip("+") == two.lstrip("+"):
            return True
        one, two = (float(text.lower().replace("d", "e"))
                    for text in (one, two))
        return abs(one - two) <= max(
            self.floor, self.tolerance * max(abs(one), abs(two)))


def absent(packages):
    """Those of some packages that are not installed. Where no dpkg is, none
    is."""
    try:
        done = subprocess.run(
            ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n",
             *packages], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True)
    except OSError:
        return list(packages)
    there = {line.split()[0] for line in done.stdout.splitlines()
             if line.endswith(" installed")}
    return [one for one in packages if one not in there]


def read(file):
    """The Application of a program.toml."""
    try:
        with open(file, "rb") as opened:
            given = tomllib.load(opened)
    except (OSError, tomllib.TOMLDecodeError) as why:
        raise BadFile(f"{file}: {why}") from None
    known = {one.name: one for one in dataclasses.fields(Application)}
    strange = [key for key in given if key not in known or
               key in ("name", "folder")]
    needed = [key for key in ("title", "packages", "command", "result")
              if key not in given]
    if strange or needed:
        raise BadFile(f"{file}: " + ", ".join(
            [f"{key} is not known" for key in strange]
            + [f"{key} is missing" for key in needed]))
    return Application(file.parent.name, file.parent, **given)


def read_all(folder):
    """The Applications of a folder, by name, in the order of their titles."""
    found = [read(file) for file in pathlib.Path(folder).glob(
        "*/program.toml")]
    return {one.name: one for one in
            sorted(found, key=lambda one: one.title.lower())}


def environment():
    """The environment of every run, alone and with us: nothing of this
    Python's, and one thread a rank."""
    env = {key: value for key, value in os.environ.items()
           if key not in ("LD_PRELOAD", "PYTHONHOME", "PYTHONPATH",
                          "VIRTUAL_ENV")
           and not key.startswith("STRAIGHTWAY_")}
    own = os.path.join(sys.prefix, "bin")
    env["PATH"] = ":".join(part for part in env.get("PATH", "").split(":")
                           if part != own)
    return {"OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1",
            **env, "LC_ALL": "C.UTF-8"}
