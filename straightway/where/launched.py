"""Processes below a process, and what a launcher has told each of its ranks.

A rank has no number of its own before MPI_Init has returned, and a process
that has not called MPI shows nothing. The launcher's variables in the
environment of the process give both a number.
"""

import os
import typing

RANK = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID")
SIZE = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS")
LAUNCHERS = ("mpirun", "mpiexec", "prterun", "prted", "prte", "orted",
              "orterun", "hydra_", "slurmstepd", "srun", "pmi_proxy")


class Launched(typing.NamedTuple):
    job: str                # alike for the ranks of a launcher
    rank: typing.Optional[int]
    size: int               # 0: not told


def stat(pid, proc="/proc"):
    """(parent, name, state) of a process, or None."""
    try:
        with open(f"{proc}/{pid}/stat", encoding="utf-8",
                  errors="replace") as file:
            text = file.read()
    except OSError:
        return None
    # The name may hold anything, a parenthesis among it.
    name, _, rest = text.partition("(")[2].rpartition(")")
    words = rest.split()
    if len(words) < 2 or not words[1].isdigit():
        return None
    return int(words[1]), name, words[0]


def processes(proc="/proc"):
    """{pid: (parent, name, state)} of this machine."""
    try:
        names = os.listdir(proc)
    except OSError:
        return {}
    found = {int(name): stat(name, proc) for name in names if name.isdigit()}
    return {pid: told for pid, told in found.items() if told}


def below(pid, table):
    """The process and all that it has started, themselves or through others,
    in the order of their numbers."""
    children = {}
    for child, (parent, _, _) in table.items():
        children.setdefault(parent, []).append(child)
    found, left = set(), [pid]
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += children.get(one, ())
    return sorted(found)


def environment(pid, proc="/proc"):
    """{name: value}; empty where this user may not read it."""
    try:
        with open(f"{proc}/{pid}/environ", "rb") as file:
            text = file.read().decode(errors="replace")
    except OSError:
        return {}
    return dict(part.split("=", 1) for part in text.split("\0")
                if "=" in part)


def _first(values, names):
    return next((int(values[n]) for n in names
                 if values.get(n, "").isdigit()), None)


def rank_of(pid, proc="/proc"):
    """The number that the launcher has given to a process, or None."""
    return _first(environment(pid, proc), RANK)


def launcher(pid, table):
    """The launcher above a process, else its parent."""
    one = table.get(pid, (0, "", ""))[0]
    first = one
    while one > 1 and one in table:
        if table[one][1].startswith(LAUNCHERS):
            return one
        one = table[one][0]
    return first


def known(plain, proc="/proc"):
    """{pid: Launched} for the processes of a reading's launchers, where ranks
    are in MPI_Init; else none, and nothing is read."""
    new, jobs = [], {}
    plains = [p for p in plain.get("processes") or () if isinstance(p, dict)]
    if all((p.get("rank") or 0) >= 0 for p in plains):
        return {}
    table = processes(proc)
    for one in plains:
        above = launcher(one.get("pid"), table)
        if (one.get("rank") or 0) < 0:
            new.append(above)
        else:
            jobs[above] = one.get("job")
    shown = {p.get("pid") for p in plains}
    found = {}
    for above in sorted(set(new)):
        told = [(pid, environment(pid, proc)) for pid in below(above, table)
                if pid != above]
        ranks = [(pid, _first(e, RANK), _first(e, SIZE) or 0)
                 for pid, e in told]
        # Of a shell and the program below it, the program is the rank.
        best = {}
        for pid, rank, size in ranks:
            if rank is not None and (rank not in best or pid in shown
                                     or best[rank][0] not in shown):
                best[rank] = (pid, size)
        for rank, (pid, size) in best.items():
            found[pid] = Launched(jobs.get(above) or f"launcher {above}",
                                  rank, size)
    return found
