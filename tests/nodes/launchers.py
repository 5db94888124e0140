"""What each launcher needs to use test nodes: options, settings and files.

A placement is a list: the node of each rank. Open MPI and Intel MPI take it as
a file with the host of each rank; MPICH takes a file of hosts, and a map.
"""

import re
import subprocess

from namespaces import AGENT, SCRATCH, Refused


def _says(launcher, option, env):
    try:
        return subprocess.run([launcher, option], env=env, text=True,
                              capture_output=True).stdout
    except OSError as why:
        raise Refused(f"{launcher}: {why.strerror}") from None


def kind(launcher, env):
    """Return which launcher this is: "openmpi", "mpich" or "impi"."""
    version = _says(launcher, "--version", env)
    for pattern, name in ((r"Open MPI|PRRTE|OpenRTE", "openmpi"),
                          (r"Intel", "impi"), (r"HYDRA", "mpich")):
        if re.search(pattern, version):
            return name
    raise Refused(f"{launcher} is not of Open MPI, MPICH or Intel MPI")


def settings(env, placement):
    """The environment in which any launcher takes the agent for ssh, and finds
    the nodes without options. Intel MPI's then needs as many ranks on each."""
    ours = {
        "PRTE_MCA_plm_ssh_agent": AGENT,
        "PRTE_MCA_plm_ssh_no_tree_spawn": 1,
        "PRTE_MCA_prte_default_hostfile": f"{SCRATCH}/slots",
        "PRTE_MCA_rmaps_default_mapping_policy": "slot",
        "PRTE_MCA_hwloc_default_binding_policy": "none",
        "OMPI_MCA_plm_rsh_agent": AGENT,            # Open MPI 4
        "OMPI_MCA_plm_rsh_no_tree_spawn": 1,
        "OMPI_MCA_orte_default_hostfile": f"{SCRATCH}/slots",
        "OMPI_MCA_hwloc_base_binding_policy": "none",
        "OMPI_ALLOW_RUN_AS_ROOT": 1,    # the caller is root on its nodes
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": 1,
        "HYDRA_LAUNCHER": "ssh",
        "HYDRA_LAUNCHER_EXEC": AGENT,
        "HYDRA_HOST_FILE": f"{SCRATCH}/hosts",
        "I_MPI_HYDRA_BOOTSTRAP": "ssh",
        "I_MPI_HYDRA_BOOTSTRAP_EXEC": AGENT,
        "I_MPI_HYDRA_HOST_FILE": f"{SCRATCH}/ranks",
        "I_MPI_PERHOST": max(map(placement.count, placement)),
    }
    # A fabric of shared memory alone would end at the node.
    if env.get("I_MPI_FABRICS", "shm") == "shm":
        ours["I_MPI_FABRICS"] = "shm:ofi"
    return {"FI_PROVIDER": "tcp", "I_MPI_PIN": "off", **env,
            **{name: str(value) for name, value in ours.items()}}


def files(placement, names):
    """{name: text} of what the launchers read in the node's own folder."""
    counts = [(name, placement.count(i)) for i, name in enumerate(names)
              if i in placement]
    return {"ranks": "".join(f"{names[i]}\n" for i in placement),
            "hosts": "".join(f"{name}:{n}\n" for name, n in counts),
            "turns": "".join(f"{name}:1\n" for name, n in counts),
            "slots": "".join(f"{name} slots={n}\n" for name, n in counts)}


def options(launcher, env, placement):
    """The options that make the launcher place its ranks so."""
    count = ["-n", str(len(placement))]
    name = kind(launcher, env)
    if name == "openmpi":
        return count + ["--hostfile", f"{SCRATCH}/ranks", "--map-by", "seq",
                        "--bind-to", "none"]
    if name == "impi":
        return count + ["-machinefile", f"{SCRATCH}/ranks"]
    used = sorted(set(placement))
    if placement == sorted(placement):
        return count + ["-f", f"{SCRATCH}/hosts"]
    if placement == used * (len(placement) // len(used)):
        return count + ["-f", f"{SCRATCH}/turns"]
    if "-rankmap" not in _says(launcher, "-help", env):
        raise Refused(f"{launcher} has no -rankmap, for a placement that is "
                      "neither by block nor cyclic over equal nodes")
    return count + ["-f", f"{SCRATCH}/hosts", "-rankmap",
                    ",".join(str(used.index(node)) for node in placement)]
