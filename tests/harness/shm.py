"""Nothing of ours has a name in the file system: /dev/shm proves it.

An entry that appeared during the session, belongs to this user and is open
in no living process was left behind. Entries in an MPI's own naming come
from a host whose rank was killed (the host alone leaves the same); the tests
report them, and only their owner removes them. Anything else is ours.
"""

import glob
import os
import re

FOLDER = "/dev/shm"
_HOSTS_OWN = re.compile(
    r"(vader_segment|sm_segment|osc_rdma|mpich_shar_tmp|mpich_shm|MPICH_|"
    r"Intel_MPI|IntelMPI|impi_|psm|ofi|fi_|pmix|prte|ompi|open_?mpi|"
    r"ucx|sem\.)", re.I)


def entries():
    try:
        return set(os.listdir(FOLDER))
    except OSError:
        return set()


def _in_use():
    used = set()
    for link in (glob.glob("/proc/[0-9]*/fd/*")
                 + glob.glob("/proc/[0-9]*/map_files/*")):
        try:
            target = os.readlink(link)
        except OSError:
            continue
        if target.startswith(FOLDER + "/"):
            used.add(target[len(FOLDER) + 1:].split("/")[0])
    return used


def left_behind(before):
    """(ours, the hosts' own): names left since `before` was taken."""
    new = []
    for name in entries() - before:
        try:
            if os.lstat(f"{FOLDER}/{name}").st_uid == os.getuid():
                new.append(name)
        except OSError:
            pass
    if new:
        used = _in_use()
        new = [n for n in new if n not in used]
    hosts = sorted(n for n in new if _HOSTS_OWN.search(n)
                   and "straightway" not in n.lower())
    return sorted(set(new) - set(hosts)), hosts
