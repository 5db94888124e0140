"""The assumed machine: layers of a model, one over the other.

The layers (models/lines.py) are the baseline's models, in the order of their
names, then those of an experiment, then its lines. A later layer replaces
settings that exist once: the placement of ranks, the network, the link of a
class, the times of one-sided calls.

Names are those of models/ (presets and TOML files), and three that machines
themselves answer: `measured`, the MPI alone on this one, `measured-straightway`
(measured.py), and `measured-network`, what lies between nodes under the last of
these two (measured_nodes.py). Where ranks are on several nodes and a measured
model has no network above it, the measured network joins.
"""

import collections
import functools
import itertools
import pathlib
import subprocess
import tempfile

from straightway import native, units
from straightway.errors import UserError, nearest
from straightway.machine import hardware, hosts
from straightway.whatif import (experiments, measured, measured_nodes,
                                started)
from straightway.whatif.models.lines import Line, combine, text

MEASURED = (*measured.NAMES, measured_nodes.NAME)


def _named():
    from straightway.whatif import models
    return models


# Names ----------------------------------------------------------------------

class Models:
    """Writes model files.

    `names`: the baseline's; `job`: a program whose MPI is measured (None for a
    replay); `ranks`: the largest number of ranks.

        mpi     the MPI's name, where it is known
        about   sentences on the measurements
        doubts  sentences on what makes them unreliable
        wanted  of measured.PARTS, those that the program needs
        speed   of the processors in every model, beside those of the recorded
                run (1.0)
    """

    def __init__(self, names, job, ranks, recalibrate=False,
                 step=lambda text, long=False: None, mpi=None):
        self.names, self.job, self.ranks = names, job, ranks
        self.recalibrate, self.step = recalibrate, step
        self.mpi, self.about, self.doubts = None, [], []
        self.wanted, self.speed = measured.PARTS, 1.0
        self.host, self._given_mpi = None, mpi or (job and job.mpi)
        self._calibration = self._nodes = None
        for name in names:
            self.check(name)
        if any(n in MEASURED for n in names) or job:
            self._find_host()

    def check(self, name, what="model"):
        """UserError, with the nearest name, for an unknown one. `what` is the
        option that names it."""
        if name in MEASURED:
            return
        if name.endswith(".toml") or "/" in name:
            if not pathlib.Path(name).exists():
                raise UserError(f"--{what} {name}: there is no such file")
            return
        if "+" in name:
            for part in name.split("+"):
                if part in MEASURED:
                    raise UserError(f"--{what} {name}: {part} does not join by "
                                    f"+; give --{what} twice")
                self.check(part, what)
            return
        known = [*MEASURED, *_named().names()]
        if name not in known:
            raise UserError(f"--{what} {name}: unknown; " + (
                "the name of a model's file must end in .toml"
                if pathlib.Path(name).is_file() else
                nearest(name, known, cutoff=0.5)))

    def by_loggopsim(self, wanted):
        """Whether the baseline, or an experiment, takes LogGOPSim's rule."""
        names = {*self.names, *(
            name for experiment in wanted for change in experiment.changes
            for name in change.models)} - set(MEASURED)
        return any(_named().load(name).data.get("loggopsim") for name in names)

    def check_all(self, wanted, ranks):
        """Check names and placements before any run."""
        for experiment in wanted:
            for change in experiment.changes:
                for name in change.models:
                    self.check(name, change.key)
                if change.key == "algorithm":
                    _check_algorithm(change)
            if ranks and experiment.models != ["free"]:
                self._names(ranks, experiment)

    def _find_host(self):
        self.host = measured.host_of(self.job, 2) if self.job else \
            hosts.choose(self._given_mpi)
        self.mpi = self.host.title

    def calibration(self):
        """The measurements of this machine."""
        if not self._calibration:
            self._calibration = measured.load(
                self.host, self.ranks, self.recalibrate,
                functools.partial(self.step, long=True), self.wanted)
            most = self._calibration["key"]["ranks"]
            self.doubts += measured.doubts(self._calibration)
            if self.ranks > most:
                self.about.append(
                    "Inside a node the times of collectives are measured up "
                    f"to {units.plural(most, 'rank')}; those of more ranks are "
                    "computed from the measured times of messages.")
        return self._calibration

    def nodes(self, title):
        """The measurements of several nodes; `title`: of what needs them."""
        if not self._nodes:
            if not self.host:
                self._find_host()
            found = measured_nodes.find(self.host)
            if not measured_nodes.linked(found):
                raise UserError(
                    f"{title}: no model has a network between nodes, and none "
                    f"is measured under {self.host.title}\n  give --network "
                    "NAME, or measure one with a rank on each of two nodes:\n"
                    f"  {measured_nodes.command(self.host)}")
            self._nodes = found
            self.about += measured_nodes.about(found)
            self.doubts += measured_nodes.doubts(found)
        return self._nodes

    def _calibrated(self, title, side):
        """The measurements of this machine, with those of a side."""
        found = self.calibration()
        if side not in found["collectives"]:
            raise UserError(f"{title}: Straightway does not "
                            f"accelerate {self.host.title} here (see "
                            "straightway doctor)", 1)
        return found

    def _measured(self, name):
        who = measured.NAMES[name]
        return measured.lines(self._calibrated(f"model {name}", who), who)

    def _started(self, experiment, names):
        """Lines on the nonblocking collectives that the MPI or Straightway
        carries out, in parts of the time that the blocking ones take."""
        lines = []
        for change in experiment.changes:
            if not change.started:
                continue
            title = f"--{change.key} {change.given}"
            base = [measured.NAMES[n] for n in names if n in measured.NAMES]
            if not base:
                raise UserError(f"{title} needs times measured on this "
                                "machine: --model measured")
            found = self._calibrated(title, change.carrier)["started"]
            if not (found.get(change.carrier) and found.get(base[-1])):
                raise UserError(f"{title}: the measurement has no nonblocking "
                                "collectives; measure anew with --recalibrate")
            lines += started.lines(found, change.carrier, base[-1],
                                   change.started)
        return lines

    def _layers(self, names, ranks, title):
        """A layer for each measured model, and one for each group of names
        between them, which models/ combines."""
        who = "host"
        for mine, group in itertools.groupby(
                names, lambda name: name in MEASURED):
            for name in group if mine else ():
                who = measured.NAMES.get(name, who)
                yield self._measured(name) if name in measured.NAMES else \
                    measured_nodes.lines(self.nodes(title), who)
            if not mine:
                group = list(group)
                for name in group:
                    self.check(name)
                yield _named().load(group).lines(ranks)

    # Writing ----------------------------------------------------------------

    def write(self, path, ranks, experiment=None):
        """The model file of the baseline (None), or of an experiment."""
        pathlib.Path(path).write_text(text(self.lines(ranks, experiment)))
        return path

    def lines(self, ranks, experiment=None):
        if experiment is None:
            title = "the baseline's model, " + "+".join(self.names)
            found = combine(ranks, [self._machine(), *self._layers(
                self.names, ranks, title)])
            _check_links(found, ranks, title)
            return found
        layers = [self._machine()]
        if experiment.models == ["free"]:
            names = []
            layers.append([Line("free", "all")])
        else:
            names, places = self._names(ranks, experiment)
            layers += self._layers(names, ranks, experiment.title)
            layers.append(places)
        layers.append(_speed(experiment, layers))
        layers.append(_offloads(experiment, layers))
        layers.append(self._started(experiment, names))
        found = combine(ranks, [*layers, experiment.lines])
        if experiment.models != ["free"]:
            _check_links(found, ranks, experiment.title)
        return found

    def _machine(self):
        return [] if self.speed == 1 else \
            [Line("cpu_speed", self.speed, digits=6)]

    def _names(self, ranks, experiment):
        """The models of an experiment, and the line that places the ranks. The
        measured network joins where no other is. UserError: there is none."""
        names = [] if experiment.fresh else list(self.names)
        names += experiment.models
        places = self._places(ranks, experiment)
        several = _spread([*places, *experiment.lines], ranks)[0] > 1
        if several and set(names) & set(measured.NAMES) and \
                not self._has_network(names, ranks):
            names.append(measured_nodes.NAME)
        if measured_nodes.NAME in names:
            self.nodes(experiment.title)
        return names, places

    def _has_network(self, names, ranks):
        given = [name for name in names if name not in measured.NAMES]
        return measured_nodes.NAME in given or given and any(
            line.setting == ("link", "network")
            for line in _named().load(given).lines(ranks))

    def _places(self, ranks, experiment):
        """The line that places the ranks; none, where the experiment itself
        places each."""
        if any(line.setting == ("place",) for line in experiment.lines):
            return []
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
        return [Line("place", min(per_node or ranks, ranks), per_domain)]


def _spread(lines, ranks):
    """(nodes, ranks on the fullest) by the lines that place the ranks."""
    given = collections.Counter(
        line[2] for line in lines if line[0] == "place_rank")
    if given:
        return len(given), max(given.values())
    per_node = next((x[1] for x in lines if x[0] == "place"), 0) or ranks
    return -(-ranks // per_node), min(per_node, ranks)


def _check_links(lines, ranks, title):
    """UserError for messages without a link in any model. They would take no
    time: a mistake, not a prediction."""
    links = {line[1] for line in lines if line[0] in ("link", "point")}
    nodes, most = _spread(lines, ranks)
    if nodes > 1 and "network" not in links:
        raise UserError(
            f"{title}: {units.plural(ranks, 'rank')}, {most} on each node,"
            " and no model has a network between nodes: give --network NAME")
    domain = max((x[2] for x in lines if x[0] == "place"), default=0)
    if most > domain > 0 and not links & {"node", "network"}:
        raise UserError(
            f"{title}: domains of {units.plural(domain, 'rank')} share a node,"
            " and no model gives the time of a message between them: give "
            "[link.node]")
    if most > 1 and not links & {"node", "domain"}:
        raise UserError(
            f"{title}: no model gives the time of a message inside a node, "
            f"and a node has {most} ranks\n  A network is an "
            "experiment: --network NAME --nodes N; or lay it over a model "
            "of a node:\n  --model node --model NAME")


def _check_algorithm(change):
    """UserError for an algorithm that no collective has; the engine knows the
    list."""
    with tempfile.NamedTemporaryFile("w", suffix=".model") as file:
        file.write(text([Line("ranks", 2), *change.lines]))
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
    before = next((line[1] for layer in layers for line in layer
                   if line[0] == "cpu_speed"), 1)
    return [Line("cpu_speed", speed * before, digits=6)]


def _offloads(experiment, layers):
    """Costs that the option does not give come from the network's link: its
    latency for a round, the processor's part of a send for the posting."""
    posting, turn, byte = experiments.OFFLOAD
    for layer in layers:
        for line in layer:
            if line[:2] == ("link", "network"):
                posting = line[2].get("o_send", posting)
                turn = line[2].get("L", turn) or turn
                byte = line[2].get("G", byte)
            elif line[:3] == ("point", "network", 0):
                posting, turn = line[3:5]
    lines = []
    for change in experiment.changes:
        for name, costs in change.offload:
            lines.append(Line("offload", name, *map(
                float, costs or (posting, turn, byte)), digits=6))
    return lines
