"""Several nodes: what carries data between them, and how a job lies on them.

`checks` looks at this machine and at the environment. `places` sums up a job
that has run, from its ranks in a capture: the library numbers the nodes, so
they are those that MPI sees.
"""

import fcntl
import ipaddress
import os
import pathlib
import socket
import struct

from straightway.errors import UserError
from straightway.machine import user
from straightway.machine.checks import DEGRADED, NOTE, OK, Check

GROUP = "several nodes"
SHOWN = 16              # nodes

# Variables of each MPI that choose its transport between nodes.
_CHOICES = {
    "openmpi": ("OMPI_MCA_pml", "OMPI_MCA_btl", "OMPI_MCA_mtl",
                "OMPI_MCA_btl_tcp_if_include", "OMPI_MCA_btl_tcp_if_exclude"),
    "mpich": ("MPIR_CVAR_CH4_NETMOD", "MPIR_CVAR_OFI_USE_PROVIDER"),
    "intel": ("I_MPI_FABRICS", "I_MPI_OFI_PROVIDER"),
}
_LIBRARIES = ("UCX_TLS", "UCX_NET_DEVICES", "FI_PROVIDER", "FI_TCP_IFACE")

_SIOCGIFADDR = 0x8915


def _ipv4(name):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("256s", name.encode()[:15])
        try:
            answer = fcntl.ioctl(any_socket, _SIOCGIFADDR, request)
        except OSError:
            return None
    return socket.inet_ntoa(answer[20:24])


def interfaces():
    """{interface: [address, ...]}, without those that stay on the machine."""
    found = {}
    for _, name in socket.if_nameindex():
        address = _ipv4(name)
        if address and not ipaddress.ip_address(address).is_loopback:
            found.setdefault(name, []).append(address)
    try:
        lines = pathlib.Path("/proc/net/if_inet6").read_text().splitlines()
    except OSError:
        lines = []
    for line in lines:
        digits, *_, name = line.split()
        address = ipaddress.ip_address(bytes.fromhex(digits))
        if not address.is_loopback and not address.is_link_local:
            found.setdefault(name, []).append(str(address))
    return found


def devices():
    """Names of the adapters that reach another node's memory by themselves."""
    base = pathlib.Path("/sys/class/infiniband")
    return sorted(p.name for p in base.iterdir()) if base.is_dir() else []


def _is_off(name):
    return os.environ.get(name, "").lower() in ("0", "off", "no", "false")


def ways():
    """The file with the tables of ways that were measured. UserError: the
    environment names no place for it."""
    given = os.environ.get("STRAIGHTWAY_WAYS")
    if given:
        return pathlib.Path(given)
    return user.folder("XDG_CONFIG_HOME", ".config") / "ways"


def _settings():
    if _is_off("STRAIGHTWAY_SPANS"):
        yield ("collectives over nodes", DEGRADED,
               "switched off (STRAIGHTWAY_SPANS)",
               "the MPI alone serves communicators that span nodes",
               "unset STRAIGHTWAY_SPANS")
    else:
        most = os.environ.get("STRAIGHTWAY_SPAN_MAX", "64")
        yield ("collectives over nodes", OK,
               f"on, for up to {most} communicators in each process")
    yield "table of ways", OK, _table_of_ways()


def _table_of_ways():
    try:
        file = ways()
        if os.path.isfile(file):
            return str(file)
        none = f"no file {file}"
    except UserError as error:
        none = f"no file: {error}"
    return f"{none}: the built-in table decides which collectives go over nodes"


def _network(found):
    has = interfaces()
    if has:
        yield ("network interfaces", OK, "; ".join(
            f"{name} {', '.join(addresses)}"
            for name, addresses in has.items()))
    else:
        yield ("network interfaces", NOTE, "none with an address",
               "ranks on this machine reach no other node by TCP")
    adapters = devices()
    if adapters:
        yield "RDMA adapters", OK, ", ".join(adapters)
    for kind in sorted({host.kind for host in found if host.served}):
        names = (*_CHOICES.get(kind, ()), *_LIBRARIES)
        given = [f"{name}={os.environ[name]}" for name in names
                 if os.environ.get(name)]
        yield (f"transport of {kind}", OK, ", ".join(given) if given else
               "its own choice: no variable of the environment sets it")


def checks(found):
    """Checks of this machine. `found`: the MPIs of hosts.find."""
    return [Check(GROUP, *line) for part in (_settings(), _network(found))
            for line in part]


# A job ----------------------------------------------------------------------

def places(ranks, wires=None):
    """How a job lies on nodes: {"ranks":, "lanes":, "nodes": [...], "wires":}.
    `ranks` are a capture's; `wires` is what rank 0 of the benchmark had opened
    (bench/wires.h)."""
    nodes = {}
    for rank in ranks:
        node = nodes.setdefault(rank.node_number, {
            "name": rank.node, "processors": rank.node_processors,
            "ranks": []})
        node["ranks"].append(rank.number)
    found = [nodes[n] for n in sorted(nodes)]
    fewest = min(len(node["ranks"]) for node in found)
    return {"ranks": sum(len(node["ranks"]) for node in found),
            "lanes": fewest if len(found) > 1 else 0,
            "nodes": found, "wires": wires}


def job_checks(job, words):
    """Checks of a job as `places` has it. `words` turns a list of numbers into
    a text."""
    lines = []
    for node in job["nodes"][:SHOWN]:
        count, have = len(node["ranks"]), node["processors"]
        finding = f"rank{'s' * (count > 1)} {words(node['ranks'])}"
        if count > have:
            lines.append((
                node["name"], NOTE, f"{finding}; it has {have} processors",
                "ranks that wait give their processor to others, which takes "
                "time", "start fewer ranks on each node"))
        else:
            lines.append((node["name"], OK, finding))
    if len(job["nodes"]) > SHOWN:
        lines.append(("and more", OK, f"{len(job['nodes']) - SHOWN} nodes"))
    if job["lanes"] and job["wires"]:
        lines.append(("transport", *_wires(job["wires"])))
    if not job["lanes"]:
        lines.append(("MPI_COMM_WORLD", OK, "all ranks are on one node"))
    elif len(job["nodes"]) == job["ranks"]:
        lines.append(("MPI_COMM_WORLD", NOTE,
                      f"{len(job['nodes'])} nodes of one rank",
                      "the MPI alone serves its collectives: no ranks share "
                      "memory", "start more ranks on each node"))
    else:
        lines.append(("MPI_COMM_WORLD", OK,
                      f"{len(job['nodes'])} nodes; {job['lanes']} "
                      f"lane{'s' * (job['lanes'] != 1)} between them"))
    return [Check("this job", *line) for line in lines]


def _wires(wires):
    """The state and finding of what carries messages between nodes."""
    names = {address: name for name, addresses in interfaces().items()
             for address in addresses}
    seen = [f"{path} is open" for path in wires["devices"]]
    seen += [f"TCP by {names[address]}, {address}" if address in names
             else f"TCP from {address}" for address in wires["tcp"]]
    if seen:
        return OK, "rank 0 reaches another node: " + "; ".join(seen)
    return (NOTE, "rank 0 has no TCP connection to another node, and no "
            "adapter's device open",
            "the MPI uses a transport that the system does not show here")
