"""The nodes that a job has: from a list, a host file, or the batch system.

    given("n[01-02],n7")        Nodes(names=["n01", "n02", "n7"], ...)
    given("hosts")              a file: a name a line, with its slots or without
    around()                    what the batch system says of the job around
                                this process; None outside of a job

A name that comes again adds a slot to its node: so PBS, LSF and the machine
files of Intel MPI write them. "alice@n1" is n1, since the launcher asks for the
node by its name.

The sources: mpirun(1) of Open MPI ("slots="), Hydra's manual ("name:slots"),
sbatch(1) ("SLURM_JOB_NODELIST"), qsub(1B) of PBS ("PBS_NODEFILE"), LSF's
reference ("LSB_DJOB_HOSTFILE", "LSB_MCPU_HOSTS"), and sge_pe(5)
("pe_hostfile").
"""

import dataclasses
import os
import re

from straightway.errors import UserError
from straightway.machine.readers import hostlist, text_of

_FIX = "give names as in n1,n2 or n[01-16], or a file with a name a line"
_LINE = re.compile(r"(?:[^\s@]+@)?(?P<name>[\w.-]+)"
                   r"(?::(?P<colon>\d+))?(?P<rest>(?:\s.*)?)$")
_SLOTS = re.compile(r"\bslots?\s*=\s*(\d+)")


@dataclasses.dataclass
class Nodes:
    """Names of nodes, each once, in the order of their source.

    slots   {name: how many ranks the source gives it}; without those of which
            the source says nothing
    source  where they were found, for people
    """

    names: list
    slots: dict
    source: str


def _nodes(pairs, source):
    """Of (name, slots or None) pairs."""
    pairs = list(pairs)
    names = list(dict.fromkeys(name for name, _ in pairs))
    repeated = len(names) < len(pairs)
    slots = {}
    for name, count in pairs:
        if count or repeated:
            slots[name] = slots.get(name, 0) + (count or 1)
    return Nodes(names, slots, source)


def _entry(text, problem):
    """(name, slots or None) of one line or word."""
    found = _LINE.match(text)
    if not found:
        raise problem(f"{text[:40] or 'nothing'} is no name of a node")
    count = found["colon"]
    word = _SLOTS.search(found["rest"])
    if word:
        count = word[1]
    elif not count and re.match(r"\s+\d+(\s|$)", found["rest"]):
        count = found["rest"].split()[0]    # pe_hostfile
    return found["name"], int(count) if count else None


def _of_list(text):
    def problem(what):
        return UserError(f"--hosts {text}: {what}\n  {_FIX}")

    def pairs():
        try:
            words = list(hostlist.split(text))
        except ValueError as error:
            raise problem(str(error)) from None
        for number, word in enumerate(words, 1):
            word = word.strip()
            if "[" not in word and not re.search(r"\s", word):
                yield _entry(word, lambda what, n=number: problem(
                    f"entry {n}: {what}"))
                continue
            try:
                yield from ((name, None) for name in hostlist.expand(
                    word.rpartition("@")[2]))
            except ValueError as error:
                raise problem(f"entry {number}: {error}") from None

    return _nodes(pairs(), f"--hosts {text}")


def entries(path):
    """[(name, slots or None)] of a host file's lines, in order."""
    found = []
    for number, line in enumerate(text_of(path).splitlines(), 1):
        line = line.partition("#")[0].strip()

        def problem(what, number=number):
            return UserError(f"{path}, line {number}: {what}\n  {_FIX}", 1)

        if "[" in line:
            try:
                found += [(name, None) for name in hostlist.expand(line)]
            except ValueError as error:
                raise problem(str(error)) from None
        elif line:
            found.append(_entry(line, problem))
    if not found:
        raise UserError(f"{path}: there is no name of a node in it\n  {_FIX}",
                        1)
    return found


def read(path):
    """The Nodes of a host file."""
    return _nodes(entries(path), path)


def given(text):
    """The Nodes of --hosts."""
    return read(text) if os.path.isfile(text) else _of_list(text)


# The batch system -----------------------------------------------------------

def _repeated(text):
    """"a 4 b 2": LSF's pairs."""
    words = text.split()
    return [(name, int(count)) for name, count in zip(words[::2], words[1::2])
            if count.isdecimal()]


def _of_file(path):
    return read(path) if os.path.isfile(path) else None


def _of_slurm(text):
    return _nodes([(name, None) for name in hostlist.expand(text)], "")


def _of_lsf(text):
    return _nodes(_repeated(text), "")


_VARIABLES = (("SLURM_JOB_NODELIST", _of_slurm), ("SLURM_NODELIST", _of_slurm),
              ("PBS_NODEFILE", _of_file), ("LSB_DJOB_HOSTFILE", _of_file),
              ("LSB_MCPU_HOSTS", _of_lsf), ("PE_HOSTFILE", _of_file))


def around(environment=None):
    """The Nodes of the job around this process; None: there is none. A variable
    that cannot be read counts as absent."""
    environment = os.environ if environment is None else environment
    for variable, nodes_of in _VARIABLES:
        text = environment.get(variable, "").strip()
        try:
            found = nodes_of(text) if text else None
        except (UserError, ValueError):
            found = None
        if found and found.names:
            return dataclasses.replace(found, source=variable)
    return None
