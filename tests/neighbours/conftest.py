"""ordinary.c beside a neighbour: its results are those of the host alone."""

import re
from pathlib import Path

import pytest
from harness import jobs
from harness.programs import accelerated, well

HERE = Path(__file__).parent


class Ordinary:
    """ordinary.c under a host."""

    def __init__(self, host):
        self.host = host
        self.program = host.compile(HERE / "ordinary.c")

    def run(self, before, within=(), straightway=True, env=None, timeout=120,
            **options):
        """Run `before... straightway run within... ordinary`."""
        line = self.host.program_line([*within, self.program], straightway)
        return self.host.run(2, [*before, *line], straightway=False,
                             env={"STRAIGHTWAY_STATS": "on", **(env or {})},
                             timeout=timeout, **options)

    def digest(self, done):
        (found,) = re.findall("digest ([0-9a-f]+)", well(done).stdout)
        return found

    def same(self, before, within=(), served=True, **options):
        """Assert that a run gives the bytes that the host alone gives without
        the neighbour; the completed process. Where the neighbour fails beside
        the host alone, skip the test."""
        try:
            done = self.run(before, within, **options)
            assert self.digest(done) == self.digest(self.run([], (), False))
        except (AssertionError, jobs.JobTimeout):
            self._fails_alone([*before, *within], **options)
            raise
        if served:
            ours, calls = accelerated(done)
            assert ours >= calls / 2 > 0
        return done

    def _fails_alone(self, words, **options):
        try:
            alone = self.run(words, (), False, **options)
        except jobs.JobTimeout:
            pytest.skip("the neighbour does not end beside the host alone")
        if alone.returncode:
            pytest.skip("the neighbour fails beside the host alone: "
                        + alone.stderr[-200:])


@pytest.fixture
def ordinary(host):
    return Ordinary(host)
