"""Medians with intervals, without assuming any distribution.

Timings are skewed. The interval of the median comes from order statistics (the
normal approximation of the binomial), which assume nothing about the
distribution.
"""

import math


def median(samples):
    ordered = sorted(samples)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def summary(samples):
    """{"median", "low", "high", "min"}: low..high holds the median with 95 %
    confidence (with fewer than 6 samples: their whole range)."""
    ordered = sorted(samples)
    n = len(ordered)
    half = 0.98 * math.sqrt(n)
    low = max(0, math.floor(n / 2 - half) - (n < 6))
    high = min(n - 1, math.ceil(n / 2 + half))
    return {"median": median(ordered), "low": ordered[low],
            "high": ordered[high], "min": ordered[0]}


def quartiles(samples):
    """{"median", "low", "high"}: half of the samples are in low..high."""
    ordered = sorted(samples)

    def at(share):
        place = share * (len(ordered) - 1)
        low = math.floor(place)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (place - low) * (ordered[high] - ordered[low])

    return {"median": at(0.5), "low": at(0.25), "high": at(0.75)}


def geometric_mean(values):
    values = list(values)
    if not values:
        return None
    return math.exp(sum(map(math.log, values)) / len(values))
