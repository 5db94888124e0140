"""The table of programs that hang: how each is run, and what is said of it.

A verdict is a regular expression, in which @3 stands for rank 3's place. Places
come from comments in the sources: the line below `HERE kind 0-2` is where ranks
0 to 2 of that kind hang. So no table holds a line's number.
"""

import pathlib
import re
import typing

from harness.programs import needs_fortran, needs_mpi4, needs_mpi4py
from pytest import mark, param

needs_rendezvous = mark.unable(
    "impi", why="Intel MPI keeps big messages until they are received")

HERE = pathlib.Path(__file__).parent
_MARK = re.compile(r"HERE (\w+) ([\d,-]+)")

# Straightway's own collectives end a job with a mismatch; those of the host
# hang. Its own sends keep messages of any size, where it copies them; those of
# the host wait for a receiver.
COLLECTIVES = {"STRAIGHTWAY_COLLECTIVES": "off"}
SENDS = {"STRAIGHTWAY_P2P": "off"}
HOSTS_ALONE = {
    **dict.fromkeys(("wrong_root", "bcast_against_reduce", "mismatch",
                     "allreduce_against_barrier", "shifted_collective"),
                    COLLECTIVES),
    **dict.fromkeys(("head_to_head_sends", "ring_of_sends", "sends",
                     "isends_before_receives"), SENDS)}

# A shell that lives on where its rank has ended, of which a launcher knows
# nothing then.
OUTLIVE = ("sh", "-c", '"$@" & wait $!; exec sleep 1000', "sh")


class Kind(typing.NamedTuple):
    source: str
    name: str
    ranks: int
    verdict: str
    short: bool = False         # in every run of the tests
    marks: tuple = ()
    below: tuple = ()           # the command that starts each rank
    silent: tuple = ()          # ranks of which no line is expected
    env: typing.Optional[dict] = None

    @property
    def id(self):
        language = {".c": "", ".f90": "fortran-", ".py": "python-"}
        path = pathlib.Path(self.source)
        return f"{language[path.suffix]}{path.stem}-{self.name}" \
            if path.suffix == ".c" else language[path.suffix] + self.name

    @property
    def path(self):
        return HERE / self.source

    def marked(self):
        """The kinds that the source has marks of."""
        return {kind for kind, _ in _MARK.findall(self.path.read_text())}

    def places(self):
        """{rank: the lines where it may hang}"""
        lines = self.path.read_text().splitlines()
        found = {rank: set() for rank in range(self.ranks)}
        for number, line in enumerate(lines, 1):
            told = _MARK.search(line)
            if told and told.group(1) == self.name:
                for rank in _ranks(told.group(2)):
                    found[rank].add(number + 1)
        return found

    def said(self):
        """The verdict's pattern, with places for @ and a rank."""
        places = self.places()

        def place(rank):
            lines = "|".join(map(str, sorted(places[int(rank.group(1))])))
            return rf"{re.escape(self.source)}:(?:{lines})\b"

        return re.sub(r"@(\d)", place, self.verdict)

    def argv(self, host):
        """The program's words under a host."""
        if self.path.suffix == ".py":
            return [*self.below, host.python, self.path, self.name]
        # At -O2 compilers merge calls, which then have one line for several.
        program = host.compile(self.path, "-O1", "-lpthread")
        return [*self.below, program, self.name]


def _ranks(text):
    """0-1,3: the ranks 0, 1 and 3"""
    for piece in text.split(","):
        first, _, last = piece.partition("-")
        yield from range(int(first), int(last or first) + 1)


def _here(words, *names):
    """One of these pieces in this order, or in any order."""
    return "".join(f"(?=.*{word})" for word in (words, *names))


EACH_OTHER = "ranks 0 and 1 wait for each other's message"
RING = "a ring: rank 0 waits for 1, 1 for 2, 2 for 0"
BARRIER = "is in MPI_Barrier #2"
USER = "is in user code at @"
SENT_NONE = "which has sent none and "

_MESSAGES = [
    ("head_to_head_sends", 2, r"ranks 0 and 1 both send \(MPI_Send, "
     r"[\d.]+ \w+, tag 5\) and neither receives", True),
    ("head_to_head_ssends", 2, r"ranks 0 and 1 both send \(MPI_Ssend, "
     r"8 \w+, tag 5\) and neither receives"),
    ("head_to_head_receives", 2, EACH_OTHER),
    ("ring_of_receives", 3, RING, True),
    ("ring_of_sends", 3, "a ring: rank 0 .*1, 1 .*2, 2 .*0"),
    ("missing_send", 2, f"rank 0 waits for tag 8 from rank 1, {SENT_NONE}"
     + USER + "1"),
    ("missing_receive", 2, "rank 0 sends tag 3 to rank 1, which has posted no "
     "receive and " + BARRIER),
    ("wrong_tag", 2, "rank 0 waits for tag 8 from rank 1, which has sent "
     "tag 9", True),
    ("wrong_source", 3, f"rank 0 waits for tag 4 from rank 2, {SENT_NONE}"
     + BARRIER),
    ("wrong_communicator", 2, "rank 1 waits for a message on 'A' from rank 0, "
     "which has sent one on 'B' with the same tag"),
    ("any_source", 3, "rank 0 (waits )?for tag 7 from any rank"),
    ("probe", 2, f"rank 0 waits for tag 11 from rank 1, {SENT_NONE}{BARRIER}"),
    ("mprobe", 2, r"rank 0 waits for (any tag|a message).* from rank 1, "
     + SENT_NONE + USER + "1"),
    ("sendrecv_mismatch", 2, "rank 0 waits for tag 2 from rank 1, which has "
     "sent tag 1|" + EACH_OTHER),
    ("finalize_against_receive", 2, _here(
        "rank 1 (still )?waits for tag 3 from rank 0",
        "(is in|has left) MPI_Finalize")),
    ("chain", 4, "rank 3,? .*is in user code at @3|rank 2 waits for tag 1 from "
     f"rank 3, {SENT_NONE}{USER}3"),
    ("self_receive", 2, "rank 1 waits for tag 1 from (rank 1|itself)"),
]

_COLLECTIVES = [
    ("wrong_root", 4, "rank 2 names root 1 in MPI_Gather #2"),
    ("bcast_against_reduce", 4, "a collective mismatch: " + _here(
        "rank 2 .*MPI_Bcast #2", "ranks 0, 1 and 3 .*MPI_Reduce #2"), True),
    ("allreduce_against_barrier", 2, "a collective mismatch: " + _here(
        "rank 0 .*MPI_Allreduce #2", "rank 1 .*MPI_Barrier #2")),
    ("two_communicators", 2, _here(
        "rank 0 .*MPI_Barrier #1 on 'A'", "rank 1 .*MPI_Barrier #1 on 'B'")),
    ("skipped_collective", 4, "ranks 0-2 wait in MPI_Allreduce #2 .*; rank 3 "
     "has begun 1 and " + USER + "3", True),
    ("shifted_collective", 3, "a collective mismatch: " + _here(
        "ranks 0 and 2 .*MPI_Allreduce #2", "rank 1 .*MPI_Allgather #2")),
    ("one_step_less", 3, _here(
        "MPI_Allreduce #7 on", "rank 1 .*MPI_Finalize")),
    ("wrong_communicator", 3, _here(
        "(ranks 0 and 2|rank [02]) .*MPI_Barrier #3 on .*MPI_COMM_WORLD",
        "rank 1 .*MPI_Barrier #1 on 'A'")),
    ("grid", 4, "rank 3 .*user code at @3"),
    ("comm_dup", 3, "ranks 0 and 1 wait in MPI_Comm_dup #2 .*; rank 2 has "
     "begun 1 and " + USER + "2"),
    ("comm_split", 3, _here("MPI_Comm_split #2", "rank 1 waits for tag 1 "
                            "from rank 0")),
    ("comm_free", 3, "rank 2 .*MPI_Barrier #1 on 'A'"),
    ("intercommunicator", 4, _here(
        "MPI_Barrier #1 on 'between'", "rank 3 .*waits for tag 1 from rank 0")),
    ("ibarrier", 3, "rank 1 .*user code at @1", True),
    ("iallreduce", 3, _here("ranks 0 and 2 .*MPI_Iallreduce #2", "rank 1 has "
                            "begun 1 and is in user code at @1")),
]

_REQUESTS = [
    ("waitall", 3, f"rank 0 waits for tag 1 from rank 2, {SENT_NONE}{BARRIER}"),
    ("waitany", 3, "rank 0 waits for tag 1 from rank [12]"),
    ("test_loop", 2, "rank 0 .*tag 4 from rank 1, " + SENT_NONE + BARRIER),
    ("iprobe_loop", 2, "rank 0 .*polls with MPI_Iprobe"),
    ("persistent", 2, "rank 0 waits for tag 2 from rank 1, "
     f"{SENT_NONE}{BARRIER}"),
    ("issend", 2, "rank 0 sends tag 3 to rank 1, which has posted no receive "
     "and " + BARRIER),
    ("isends_before_receives", 2, r"ranks 0 and 1 both send \(MPI_Isend, "
     r"[\d.]+ \w+, tag 5\) and neither receives"),
    ("wait_against_finalize", 2, _here(
        "rank 0 (still )?waits for tag 3 from rank 1",
        "(is in|has left) MPI_Finalize")),
]

_WINDOWS = [
    ("fence", 3, _here("ranks 0 and 1 wait in MPI_Win_fence #2", "rank 2 has "
                       "begun 1 and is in user code at @2")),
    ("complete", 2, "rank 0 waits in MPI_Win_wait for MPI_Win_complete of rank "
     "1, which " + BARRIER.replace("#2", "#"), True),
    ("post", 2, r"rank 1 waits in MPI_(Win_start|Put|Win_complete) for "
     "MPI_Win_post of rank 0, which is in MPI_Barrier"),
    ("lock", 3, "rank 1 .*(MPI_Win_lock|MPI_Put|MPI_Win_unlock).*rank 0 "
     "(holds|has|keeps)"),
    ("lock_all", 2, "rank 1 .*(MPI_Win_lock|MPI_Put|MPI_Win_unlock).*rank 0 "
     "(holds|has|keeps)"),
    ("win_free", 2, _here("MPI_Win_free", "rank 1 waits for tag 1 "
                          "from rank 0")),
    ("win_create", 2, "rank 0 waits in MPI_Win_create #2 .*; rank 1 has begun "
     "1 and " + USER + "1"),
    ("flag", 2, "rank 0 .*user code at @0"),
]

_RANKS = [
    ("user_loop", 3, "rank 1 .*user code at @1"),
    ("user_sleep", 3, "rank 1 .*user code at @1"),
    ("user_read", 3, "rank 1 .*user code at @1"),
    ("stopped", 3, r"rank 1 is stopped \(SIGSTOP\): kill -CONT \d+", True),
    ("killed", 3, "rank 1 is gone: its process has ended|have "
     "ended: they belong to rank 1"),
    ("late_init", 2, "rank 0 is in MPI_Init; rank 1 (has not come|is .*before "
     "MPI_Init)"),
    ("thread", 2, f"rank 0 waits for tag 7 from rank 1, {SENT_NONE}{BARRIER}|"
     "rank 0 .*user code at @0"),
    ("lost_wakeup", 2, f"rank 0 waits for tag 1 from rank 1, {SENT_NONE}"
     + USER + "1"),
    ("locked_receive", 2, "rank 1 waits for tag 2 from rank 0|" + EACH_OTHER),
]

_FORTRAN = [
    ("receives", 2, EACH_OTHER),
    ("ring", 3, RING),
    ("sends", 2, "ranks 0 and 1 both send"),
    ("wrong_tag", 2, "rank 0 waits for tag 8 from rank 1, which has sent "
     "tag 9"),
    ("mismatch", 3, "a collective mismatch: " + _here(
        "rank 2 .*MPI_Bcast #2", "ranks 0 and 1 .*MPI_Allreduce #2"), True),
    ("user_loop", 3, "rank 1 .*user code at @1"),
    ("waitall", 2, "rank 0 waits for tag 3 from rank 1, which has sent "
     "(none|tag 1)"),
]

_PYTHON = [
    ("receives", 2, EACH_OTHER, True),
    ("ring", 3, RING),
    ("ssends", 2, "ranks 0 and 1 both send"),
    ("missing_send", 2, f"rank 0 waits for tag 8 from rank 1, {SENT_NONE}"
     + USER + "1"),
    ("mismatch", 3, "a collective mismatch: " + _here(
        "rank 2 .*MPI_Bcast #2", "ranks 0 and 1 .*MPI_Allreduce #2")),
    ("user_loop", 3, "rank 1 .*user code at @1"),
    ("skipped_collective", 3, _here(
        "MPI_Bcast #2", "rank 0 waits for tag 1 from rank 1")),
    ("wait", 2, f"rank 0 waits for tag 4 from rank 1, {SENT_NONE}{BARRIER}"),
]


def _all():
    for source, rows, marks in [
            ("messages.c", _MESSAGES, ()), ("collectives.c", _COLLECTIVES, ()),
            ("requests.c", _REQUESTS, ()), ("windows.c", _WINDOWS, ()),
            ("ranks.c", _RANKS, ()), ("hangs.f90", _FORTRAN, (needs_fortran,)),
            ("hanging.py", _PYTHON, (needs_mpi4py,))]:
        for row in rows:
            kind = Kind(source, *row)._replace(marks=marks)
            kind = kind._replace(env=HOSTS_ALONE.get(kind.name))
            if kind.env == SENDS:
                kind = kind._replace(marks=(*kind.marks, needs_rendezvous))
            if kind.name == "killed":
                kind = kind._replace(below=OUTLIVE, silent=(1,))
            if kind.name == "late_init":
                kind = kind._replace(silent=(1,))
            yield kind
    yield Kind("partitions.c", "partitions", 2, "rank 1 waits for a "
               "partitioned message from rank 0, which has made 3 of 4 "
               "partitions ready|rank 0 waits to send .*made 3 of 4",
               marks=(needs_mpi4,))


KINDS = list(_all())
BY_ID = {kind.id: kind for kind in KINDS}
PARAMETERS = [
    param(kind.id,
          marks=[*kind.marks, *([] if kind.short else [mark.deep])])
    for kind in KINDS]
