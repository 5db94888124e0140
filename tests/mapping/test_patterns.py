"""Patterns: the messages between neighbours, in any grid."""

import itertools

import pytest
from straightway.errors import UserError
from straightway.mapping import patterns

SIZES = [(1,), (2,), (5,), (1, 4), (2, 2), (3, 4), (2, 1, 3), (2, 3, 4),
         (1, 1, 1, 2)]


def neighbours(dims, periods, offsets):
    """By the definition: {(from, to): messages}."""
    cells = list(itertools.product(*map(range, dims)))
    number = {cell: i for i, cell in enumerate(cells)}
    found = {}
    for cell in cells:
        for offset in offsets:
            peer = tuple((a + b) % size if period else a + b for a, b, size,
                         period in zip(cell, offset, dims, periods))
            if peer in number and peer != cell:
                pair = number[cell], number[peer]
                found[pair] = found.get(pair, 0) + 1
    return found


@pytest.mark.parametrize("dims", SIZES, ids=str)
@pytest.mark.parametrize("name", patterns.STENCILS)
def test_neighbours_are_those_of_the_cartesian_product(dims, name):
    offsets = patterns.STENCILS[name](len(dims))
    for periods in itertools.product((False, True), repeat=len(dims)):
        grid = patterns.Grid(dims, periods, offsets)
        assert grid.traffic().sent == neighbours(dims, periods, offsets)


def test_sizes_of_one_and_two_with_periods():
    # Both neighbours are the same rank, or the rank itself.
    assert patterns.Grid((2,), [True]).traffic().sent == {(0, 1): 2, (1, 0): 2}
    assert patterns.Grid((1,), [True]).traffic().sent == {}


def test_the_graph_joins_both_directions():
    found = patterns.Grid((3,)).traffic()
    assert found.near == [[(1, 2)], [(0, 2), (2, 2)], [(1, 2)]]
    assert found.total == 4


def test_a_named_stencil_and_offsets_are_one_thing():
    assert patterns.stencil("0,-1 0,1 -1,0 1,0", (3, 3)) == [
        (0, -1), (0, 1), (-1, 0), (1, 0)]
    assert sorted(patterns.stencil("faces", (3, 3))) == sorted(
        patterns.stencil("0,-1 0,1 -1,0 1,0", (3, 3)))


@pytest.mark.parametrize("call, says", [
    (lambda: patterns.dims("8x"), "give sizes"),
    (lambda: patterns.dims("8x0"), "give sizes"),
    (lambda: patterns.dims("x".join("22222222222")), "dimensions"),
    (lambda: patterns.dims("4096x4096"), "are the most"),
    (lambda: patterns.periods("1", (2, 2)), "for each of 2"),
    (lambda: patterns.periods("1,2", (2, 2)), "as in 1,0"),
    (lambda: patterns.stencil("face", (2, 2)), "did you mean faces"),
    (lambda: patterns.stencil("", (2, 2)), "unknown"),
    (lambda: patterns.stencil("1,0 1", (2, 2)), "1 is no offset"),
    (lambda: patterns.stencil("0,0", (2, 2)), "0,0 is no offset")])
def test_a_wrong_pattern_is_an_error_with_its_fix(call, says):
    with pytest.raises(UserError, match=says):
        call()
