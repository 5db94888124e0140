"""The gain of a run in turns, with an interval that holds it in 95 of 100
runs.

    found = estimate.whole([(host_ns, ours_ns), ...])
    found.gain, found.low, found.high

A user asks how much shorter the whole run becomes. So the headline, `whole`, is
the gain of the sums over all pairs:

    gain = 1 - sum(ours) / sum(host)

A median of ratios would say 0 of a program that gains 30 % in a tenth of its
time. `typical` has such a centre: the Hodges-Lehmann estimate of the logarithms
of host / ours, with the interval of Wilcoxon's signed ranks. Where the two
differ, the report says that the program's periods differ.

Why the interval holds. The library draws the order in each pair at random. So
drift, two speeds of a processor or a growing load lend each difference a random
sign: differences of pairs are uncorrelated, whatever the noise. With

    z = host * root - ours / root,      root^2 = ratio = sum(ours) / sum(host)

of each pair, neighbours give the variance of sum(z):

    sum((z[i] - z[i+1])^2) / 2

That is exact where neighbours have the same gain, and too large where they
differ. Phases of the program with other gains widen it at their borders only.

Spikes. A processor that serves another program for 10 ms lends an epoch time
that tells nothing of the gain. Where just one epoch of a pair lies far above
those around it, `whole` caps it. The rule first makes the sides alike by their
ratio, and then does not look at them, so the signs stay random.
Three things keep a real gain from being capped:

* both epochs of a pair are long: that is the program
* an epoch is shorter than others: no cap is below
* what was capped is of one side: the caps then go. Where the spikes are too few
  to tell, the interval holds the gains with caps and without

A pair does not tell what is gained in a spike. A busy processor's spikes grow
with the run: they gain as much as the rest. A file that the program writes now
and then gains nothing. The interval holds both, and the estimate is the mean of
the two.
"""

import dataclasses
import itertools
import math
import statistics

LEAST_PAIRS = 6         # of which an interval of 95 % is possible
SURE = 0.95
BLOCK = 12              # pairs that lie around each other
FAR = 5                 # median deviations: what lies beyond is a spike
FINEST = 0.001          # of the time: the least median deviation
FALLS = 2.6             # deviations by which capped time is one side's
FEW = 3                 # spikes: fewer may all be of one side by chance
ROUNDS = 20             # in which ratio and caps fit each other, at most,
CLOSE = 1e-7            # as close as this


@dataclasses.dataclass
class Gain:
    """Parts of the host's time that are saved; negative: lost."""

    gain: float
    low: float
    high: float
    spikes: float = 0.0     # the part of the time that was capped

    @property
    def apart(self):
        """Whether the interval excludes no gain at all."""
        return self.low > 0 or self.high < 0

    @property
    def half(self):
        """Half the interval's width."""
        return (self.high - self.low) / 2


def quantile(freedom, sure=SURE):
    """Student's t that a value stays within, on both sides, with this
    probability; to 1 % from 4 degrees of freedom on."""
    z = statistics.NormalDist().inv_cdf((1 + sure) / 2)
    return (z + (z ** 3 + z) / (4 * freedom)
            + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2)
            + (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z)
            / (384 * freedom ** 3))


# Spikes ---------------------------------------------------------------------

def _blocks(count):
    """[(first, end)] of pairs around each other: the last may be longer."""
    starts = list(range(0, max(1, count - BLOCK + 1), BLOCK))
    return list(zip(starts, [*starts[1:], count]))


def _cap(block):
    """The time beyond which an epoch of these pairs is a spike."""
    times = [t for pair in block for t in pair]
    level = statistics.median(times)
    spread = statistics.median(abs(t - level) for t in times)
    return level + FAR * max(spread, FINEST * level)


def _cut(alike):
    """Pairs of alike sides, without spikes."""
    found = []
    for first, end in _blocks(len(alike)):
        cap = _cap(alike[first:end])
        found += [pair if min(pair) > cap else
                  tuple(min(t, cap) for t in pair)
                  for pair in alike[first:end]]
    return found


def _spikes(alike, cut):
    """The time above the caps by pair: of the host, or negative of ours."""
    found = [(h - a) - (o - b) for (h, o), (a, b) in zip(alike, cut)]
    return [spike for spike in found if spike]


def _one_sided(spikes):
    """Whether spikes are of one side beyond chance."""
    return abs(sum(spikes)) > FALLS * math.sqrt(sum(s * s for s in spikes))


def _unsure(spikes):
    """Whether spikes may be of one side, and too few to tell."""
    return FEW <= len(spikes) <= FALLS ** 2 and \
        len({s > 0 for s in spikes}) == 1


# The whole run --------------------------------------------------------------

def _fitted(pairs, cutting):
    """(logarithm of ours / host, the pairs with alike sides, the same cut): as
    many steps of Newton's as it takes."""
    log = math.log(statistics.median(o / h for h, o in pairs))
    for _ in range(ROUNDS):
        root = math.exp(log / 2)
        alike = [(h * root, o / root) for h, o in pairs]
        cut = _cut(alike) if cutting else alike
        step = sum(h - o for h, o in cut) / _slope(alike, cut)
        log -= step
        if abs(step) < CLOSE:
            break
    return log, alike, cut


def _slope(alike, cut):
    """By how much the sum of differences grows with the logarithm. A capped
    epoch does not tell."""
    return sum(t for pair, kept in zip(alike, cut)
               for t, same in zip(pair, kept) if t == same) / 2


def _estimated(pairs, cutting):
    """(Gain, spikes)"""
    log, alike, cut = _fitted(pairs, cutting)
    z = [h - o for h, o in cut]
    deviation = math.sqrt(sum((a - b) ** 2 for a, b in zip(z, z[1:])) / 2
                          * len(z) / (len(z) - 1))
    off = quantile(2 * (len(z) - 1) / 3) * deviation / _slope(alike, cut)
    part = sum(map(sum, cut)) / sum(map(sum, alike))
    ratio = math.exp(log)
    low, high = (1 - ratio * math.exp(sign * off) for sign in (1, -1))
    # Spikes may gain as much as the rest, or nothing.
    low, high = min(low, _diluted(low, part)), max(high, _diluted(high, part))
    gain = (1 - ratio + _diluted(1 - ratio, part)) / 2
    return Gain(gain, low, high, 1 - part), _spikes(alike, cut)


def whole(pairs):
    """The Gain of all pairs, [(host's time, ours)]; None of too few."""
    if len(pairs) < LEAST_PAIRS:
        return None
    found, spikes = _estimated(pairs, True)
    if not (_one_sided(spikes) or _unsure(spikes)):
        return found
    other, _ = _estimated(pairs, False)
    if _one_sided(spikes):
        return other
    return Gain((found.gain + other.gain) / 2, min(found.low, other.low),
                max(found.high, other.high), found.spikes)


def _diluted(gain, part):
    """The gain of a run that has this gain in a part of its time alone."""
    # Of two epochs together, a gain saves gain / (2 - gain).
    saved = gain / (2 - gain) * part
    return 2 * saved / (1 + saved)


# The typical pair -----------------------------------------------------------

def _ranked(count):
    """The number, from 1, of the mean of two at which an interval of 95 %
    begins: by the distribution of Wilcoxon's signed ranks."""
    if count > 50:
        middle = count * (count + 1) / 4
        spread = math.sqrt(middle * (2 * count + 1) / 6)
        z = statistics.NormalDist().inv_cdf((1 + SURE) / 2)
        return math.floor(middle - z * spread)
    ways = [1] + [0] * (count * (count + 1) // 2)
    for rank in range(1, count + 1):
        for total in range(len(ways) - 1, rank - 1, -1):
            ways[total] += ways[total - rank]
    outside = (1 - SURE) / 2 * 2 ** count
    return next(total for total, sum_ in enumerate(itertools.accumulate(ways))
                if sum_ > outside)


def _below(logs, value):
    """How many means of two of the sorted numbers, each with itself as well,
    are at most `value`."""
    found, j = 0, len(logs) - 1
    for i, x in enumerate(logs):
        while j >= 0 and (x + logs[j]) / 2 > value:
            j -= 1
        if j < i:
            break
        found += j - i + 1
    return found


def _mean_of_two(logs, number):
    """The mean of two with this number, from 1, in their order."""
    low, high = logs[0], logs[-1]
    for _ in range(60):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if _below(logs, middle) >= number:
            high = middle
        else:
            low = middle
    return high


def typical(pairs):
    """The Gain of the typical pair; None of too few pairs."""
    if len(pairs) < LEAST_PAIRS:
        return None
    logs = sorted(math.log(h / o) for h, o in pairs)
    every = len(logs) * (len(logs) + 1) // 2
    first = _ranked(len(logs))
    return Gain(*(1 - math.exp(-_mean_of_two(logs, number)) for number in (
        (every + 1) // 2, first, every + 1 - first)))


def differ(one, other):
    """Whether the periods gain differently: neither the whole run's gain nor
    the typical one lies in the other's interval."""
    return not (one.low <= other.gain <= one.high
                or other.low <= one.gain <= other.high)
