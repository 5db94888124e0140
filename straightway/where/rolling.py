"""The tags of messages under way, from sums.

A program may use a new tag in each step, so a process has no counts by tag. It
adds up all tags, and their squares. The differences of the sender's sums and
the receiver's are those of the messages under way. One message, two, or any
number of one tag follow from them alone. Others are looked for among the latest
tags of the sender: two tags in any numbers, or few messages of several tags.
"""

import collections
import itertools
import math

MOST = 6        # messages of more than two tags
TAG_MAX = (1 << 31) - 1


def tags(messages, sums, latest):
    """{tag: messages}, or None where the sums do not tell."""
    if not sums:
        return None
    first, second = sums
    for guess in (_alike(messages, first), _two(messages, first, second)):
        if guess and _fits(guess, first, second):
            return guess
    known = sorted(set(latest))
    found = [guess for pair in itertools.combinations(known, 2)
             for guess in [_mixed(messages, first, *pair)]
             if guess and _fits(guess, first, second)]
    if not found and messages <= MOST:
        found = [guess for guess in map(
            collections.Counter,
            itertools.combinations_with_replacement(known, messages))
            if _fits(guess, first, second)]
    return dict(found[0]) if len(found) == 1 else None


def _alike(messages, first):
    return {first // messages: messages} if first % messages == 0 else None


def _two(messages, first, second):
    """a and b of a + b and a * a + b * b"""
    square = 2 * second - first * first
    if messages != 2 or square < 0 or math.isqrt(square) ** 2 != square or \
            (first + math.isqrt(square)) % 2:
        return None
    larger = (first + math.isqrt(square)) // 2
    return dict(collections.Counter([larger, first - larger]))


def _mixed(messages, first, low, high):
    """So many of two tags"""
    count, rest = divmod(first - low * messages, high - low)
    return {low: messages - count, high: count} \
        if not rest and 0 < count < messages else None


def _fits(guess, first, second):
    return all(0 <= tag <= TAG_MAX for tag in guess) and \
        sum(t * n for t, n in guess.items()) == first and \
        sum(t * t * n for t, n in guess.items()) == second
