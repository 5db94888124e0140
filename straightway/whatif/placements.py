"""The time of a program under placements, predicted by replays.

Each placement is an experiment of what-if: the same operations, under a model
with a place for each rank (place_rank of src/vtime/model/model_file.h). The
domain within a node is its innermost part of several cores that the machine
tells apart: a NUMA domain, else a package.
"""

from straightway.whatif import experiments
from straightway.whatif.models.lines import Line

_DOMAINS = ("numa", "package")


def _domains(slots):
    """The domain of each slot within its node."""
    for name in _DOMAINS:
        if name in slots.levels:
            parts = slots.parts(slots.levels.index(name))
            first = {}
            for node, part in zip(slots.nodes, parts):
                first.setdefault(node, part)
            found = [part - first[node]
                     for node, part in zip(slots.nodes, parts)]
            if max(found):
                return found
    return [0] * len(slots)


def lines(placement, slots):
    """The places of all ranks, as lines of a model."""
    nodes, domains = slots.nodes, _domains(slots)
    return [Line("place_rank", rank, nodes[slot], domains[slot])
            for rank, slot in enumerate(placement)]


def experiment(title, placement, slots, network=None):
    """The Experiment of a placement."""
    changes = [experiments.Change("placement", title, title,
                                  lines(placement, slots))]
    if network:
        changes.append(experiments.change("network", network))
    return experiments.Experiment(changes, title)


def predict(runner, models, ops, placements, slots, network=None):
    """{title: Outcome} of placements, {title: placement}."""
    ranks = runner.ranks_of(ops)
    wanted = [experiment(title, one, slots, network)
              for title, one in placements.items()]
    models.check_all(wanted, ranks)
    files = [models.write(runner.path("model"), ranks, one) for one in wanted]
    return dict(zip(placements, runner.replay(files, ops)))
