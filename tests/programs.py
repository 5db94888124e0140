"""What the tests of MPI programs share: where they lie, how they are run."""

from pathlib import Path

MPI = Path(__file__).parent / "mpi"

# The shared block of a communicator is set up at its first call, so that
# short runs are accelerated too.
AT_ONCE = {"STRAIGHTWAY_ADOPT_AFTER": "0", "STRAIGHTWAY_STATS": "1"}


def run(host, n, name, *arguments, straightway=True, env=None, timeout=120):
    """Run tests/mpi/NAME.c on n ranks; returns the completed process."""
    program = host.compile(MPI / f"{name}.c", "-lm", "-lpthread")
    argv = [str(program), *map(str, arguments)]
    settings = {**(AT_ONCE if straightway else {}), **(env or {})}
    return host.run(n, argv, straightway=straightway, env=settings,
                    timeout=timeout)


def well(done, words="all is well"):
    """Assert that a run ended well and said so."""
    assert done.returncode == 0, done.stdout + done.stderr
    assert words in done.stdout, done.stdout + done.stderr
    return done


def accelerated(done):
    """(ours, calls) over all collectives, from the statistics on stderr:
    `straightway: Allreduce  calls 120  ours 118  host 2 (...)`."""
    ours = calls = 0
    for line in done.stderr.splitlines():
        word = line.replace("straightway:", "").split()
        if "ours" in word and word[0] != "all":
            calls += int(word[2])
            ours += int(word[word.index("ours") + 1])
    return ours, calls
