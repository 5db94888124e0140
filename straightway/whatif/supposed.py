"""The assumed machine: layers of model text, one over the other.

A model file (src/vtime/model/model_file.h) has layers: the baseline's models,
in the order of their names, then those of an experiment, then its lines. A
later layer replaces settings that exist once: the placement of ranks, the
network, the link of a class. Rules of collectives only add up, because the
last that fits a call counts.

Names are those of models/ (presets and TOML files), and two that this machine
itself answers: `measured`, the MPI alone, and `measured-straightway`
(measured.py).
"""

import functools
import itertools
import pathlib
import subprocess
import tempfile

from straightway import native, units
from straightway.errors import UserError, nearest
from straightway.machine import hardware, hosts
from straightway.whatif import experiments, measured


def _named():
    from straightway.whatif import models
    return models


# Layers ---------------------------------------------------------------------

def _holds(line):
    """The setting of a line that exists once: ("place",), ("link", "node"),
    ...; None for lines that add up."""
    words = line.split()
    if words[0] in ("place", "place_rank"):
        return ("place",)
    if words[0] in ("link", "point"):
        return ("link", words[1])
    if words[0] == "state":
        return ("state", words[1])
    if words[0] in ("network", "noise", "cpu_speed", "reduce", "test"):
        return (words[0],)
    return None


def _plain(layer):
    """A layer without comments, and without the number of ranks."""
    lines = (line.partition("#")[0].strip() for line in layer)
    return [line for line in lines if line and line.split()[0] != "ranks"]


def combine(ranks, layers):
    """The lines of the whole model."""
    found = []
    for layer in map(_plain, layers):
        taken = {_holds(line) for line in layer} - {None}
        found = [line for line in found if _holds(line) not in taken]
        found += layer
    # A later layer may also have the states of an earlier layer's tables.
    found.sort(key=lambda line: not line.startswith("state "))
    return [f"ranks {ranks}", *found]


# Names ----------------------------------------------------------------------

class Models:
    """Writes model files.

    `names`: the baseline's; `job`: a program whose MPI is measured (None for a
    replay); `ranks`: the largest number of ranks.

        mpi     the MPI's name, where it is known
        about   sentences on the measurements
        doubts  sentences on what makes them unreliable
    """

    def __init__(self, names, job, ranks, recalibrate=False,
                 step=lambda text, long=False: None, mpi=None):
        self.names, self.job, self.ranks = names, job, ranks
        self.recalibrate, self.step = recalibrate, step
        self.mpi, self.about, self.doubts = None, [], []
        self.host, self._given_mpi = None, mpi or (job and job.mpi)
        self._calibration = None
        for name in names:
            self.check(name)
        if any(n in measured.NAMES for n in names) or job:
            self._find_host()

    def check(self, name, what="model"):
        """UserError, with the nearest name, for an unknown one. `what` is the
        option that names it."""
        if name in measured.NAMES:
            return
        if name.endswith(".toml") or "/" in name:
            if not pathlib.Path(name).exists():
                raise UserError(f"--{what} {name}: there is no such file")
            return
        if "+" in name:
            for part in name.split("+"):
                if part in measured.NAMES:
                    raise UserError(f"--{what} {name}: {part} does not join by "
                                    f"+; give --{what} twice")
                self.check(part, what)
            return
        known = [*measured.NAMES, *_named().names()]
        if name not in known:
            raise UserError(f"--{what} {name}: unknown; " + (
                "the name of a model's file must end in .toml"
                if pathlib.Path(name).is_file() else
                nearest(name, known, cutoff=0.5)))

    def check_all(self, wanted, ranks):
        """Check names and placements before any run."""
        for experiment in wanted:
            for change in experiment.changes:
                for name in change.models:
                    self.check(name, change.key)
                if change.key == "algorithm":
                    _check_algorithm(change)
            if ranks and not experiment.fresh:
                self._places(ranks, experiment)

    def _find_host(self):
        self.host = measured.host_of(self.job, 2) if self.job else \
            hosts.choose(self._given_mpi)
        self.mpi = self.host.title

    def calibration(self):
        """The measurements of this machine."""
        if not self._calibration:
            self._calibration = measured.load(
                self.host, self.ranks, self.recalibrate,
                functools.partial(self.step, long=True))
            most = self._calibration["key"]["ranks"]
            self.doubts += measured.doubts(self._calibration)
            if self.ranks > most:
                self.about.append(
                    f"The times of collectives are measured up to "
                    f"{units.plural(most, 'rank')}; those of more ranks are "
                    "computed from the measured times of messages.")
        return self._calibration

    def _measured(self, name, one_node):
        found, who = self.calibration(), measured.NAMES[name]
        if who not in found["collectives"]:
            raise UserError(f"model {name}: Straightway does not "
                            f"accelerate {self.host.title} here (see "
                            "straightway doctor)", 1)
        return measured.lines(found, who, one_node)

    def _layers(self, names, ranks, one_node):
        """A layer for each measured model, and one for each group of names
        between them, which models/ combines."""
        for mine, group in itertools.groupby(
                names, lambda name: name in measured.NAMES):
            if mine:
                yield from (self._measured(n, one_node) for n in group)
            else:
                group = list(group)
                for name in group:
                    self.check(name)
                yield _named().load(group).lines(ranks)

    # Writing ----------------------------------------------------------------

    def write(self, path, ranks, experiment=None):
        """The model file of the baseline (None), or of an experiment."""
        lines = self.lines(ranks, experiment)
        pathlib.Path(path).write_text("\n".join(lines) + "\n")
        return path

    def lines(self, ranks, experiment=None):
        if experiment is None:
            found = combine(ranks, self._layers(self.names, ranks, True))
            _check_links(found, ranks, "the baseline's model, "
                         + "+".join(self.names))
            return found
        if experiment.models == ["free"]:
            names, layers = [], [["free all"]]
        else:
            names = [] if experiment.fresh else list(self.names)
            places = self._places(ranks, experiment)
            # A measurement within one node does not hold for several.
            one_node = not places or int(places[0].split()[1]) >= ranks
            layers = list(self._layers(names + experiment.models, ranks,
                                       one_node))
            layers.append(places)
        layers.append(_speed(experiment, layers))
        layers.append(_offloads(experiment, layers))
        found = combine(ranks, [*layers, experiment.lines])
        if experiment.models != ["free"]:
            _check_links(found, ranks, experiment.title)
        return found

    def _places(self, ranks, experiment):
        """The line that places the ranks."""
        per_node, nodes = (experiment.last(f) for f in ("per_node", "nodes"))
        per_domain = experiment.last("per_domain")
        if nodes and per_node and ranks > nodes * per_node:
            raise UserError(
                f"{ranks} ranks do not fit {units.plural(nodes, 'node')} of "
                f"{per_node}: give more --nodes or --ranks-per-node")
        if nodes and not per_node:
            per_node = -(-ranks // nodes)
        networks = [c.given for c in experiment.changes
                    if c.key == "network"]
        if not per_node and networks:
            per_node = hardware.cores()
            if ranks <= per_node:
                raise UserError(
                    f"--network {networks[0]}: {units.plural(ranks, 'rank')} "
                    f"fit one node like this machine, of "
                    f"{units.plural(per_node, 'core')}, and would use no "
                    "network; give --nodes or --ranks-per-node")
        if not per_node and not per_domain:
            return []
        return [f"place {min(per_node or ranks, ranks)} {per_domain}"]


def _check_links(lines, ranks, title):
    """UserError for messages without a link in any model. They would take no
    time: a mistake, not a prediction."""
    words = [line.split() for line in lines]
    links = {w[1] for w in words if w[0] in ("link", "point")}
    if any(w[0] == "place_rank" for w in words):
        return
    per_node = next((int(w[1]) for w in words if w[0] == "place"), 0) or ranks
    if per_node < ranks and "network" not in links:
        raise UserError(
            f"{title}: {units.plural(ranks, 'rank')}, {per_node} on each node,"
            " and no model has a network between nodes: give --network NAME")
    if min(per_node, ranks) > 1 and not links & {"node", "domain"}:
        raise UserError(
            f"{title}: no model gives the time of a message inside a node, "
            f"and a node has {min(per_node, ranks)} ranks\n  A network is an "
            "experiment: --network NAME --nodes N; or lay it over a model "
            "of a node:\n  --model node --model NAME")


def _check_algorithm(change):
    """UserError for an algorithm that no collective has; the engine knows the
    list."""
    with tempfile.NamedTemporaryFile("w", suffix=".model") as file:
        file.write("\n".join(["ranks 2", *change.lines]) + "\n")
        file.flush()
        words = [str(native.whatif_executable()), "check", file.name]
        try:
            done = subprocess.run(words, capture_output=True, text=True,
                                  errors="replace")
        except FileNotFoundError:
            raise UserError(f"{words[0]} is missing\n  reinstall straightway",
                            1) from None
    if done.returncode:
        raise UserError(f"--algorithm {change.given}: "
                        + done.stderr.strip().rpartition(": ")[2])


def _speed(experiment, layers):
    """Speeds multiply, because the baseline may have one."""
    speed = experiment.last("speed")
    if not speed:
        return []
    for layer in layers:
        for line in layer:
            words = line.split()
            if words and words[0] == "cpu_speed":
                return [f"cpu_speed {speed * float(words[1]):g}"]
    return [f"cpu_speed {speed:g}"]


def _offloads(experiment, layers):
    """Costs that the option does not give come from the network's link: its
    latency for a round, the processor's part of a send for the posting."""
    posting, turn, byte = experiments.OFFLOAD
    for layer in layers:
        for line in layer:
            words = line.split()
            if words[:2] == ["link", "network"]:
                link = dict(zip(words[2::2], map(float, words[3::2])))
                posting = link.get("o_send", posting)
                turn = link.get("L", turn) or turn
                byte = link.get("G", byte)
    lines = []
    for change in experiment.changes:
        for name, costs in change.offload:
            one, two, three = costs or (posting, turn, byte)
            lines.append(f"offload {name} {one:g} {two:g} {three:g}")
    return lines
