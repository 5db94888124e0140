"""straightway merge: the parts of one job in one file."""

import itertools
import os
import sys

from straightway import capture, profile, units
from straightway.capture import traces
from straightway.errors import UserError
from straightway.ranges import ranges


class _Parts:
    """Collects blocks of files, by kind and rank."""

    def __init__(self, last):
        self.last = last
        self.blocks, self.symbols, self.origin = {}, {}, {}
        self.traced = {}        # {rank: path}
        self.first = None

    def add(self, path):
        found = capture.read(path, part=True)
        for problem in found.problems:
            print(f"straightway: {path}: {problem}", file=sys.stderr)
        for rank in found.ranks:
            self._check(path, rank)
        for rank in found.traced:
            self._check_origin("the trace of rank", rank, path, self.traced)
        self.symbols.update(found.symbols)
        readable = {rank.number for rank in found.ranks}
        for block in capture.read_blocks(path)[0]:
            if block.kind == b"SYMS" or (block.kind == b"RANK"
                                         and block.rank not in readable):
                continue
            self.blocks[block.kind, block.rank] = block

    def _check(self, path, rank):
        if self.first is None:
            self.first = (path, rank)
        why = traces.same_job(self.first[1], rank)
        if why:
            raise UserError(f"{self.first[0]} and {path} belong to different "
                            f"jobs: {why}; merge joins the parts of one job")
        self._check_origin("rank", rank.number, path, self.origin)

    def _check_origin(self, what, number, path, origin):
        before = origin.get(number)
        if before is not None and before != path and not self.last:
            raise UserError(f"{what} {number} is in {before} and in {path}; "
                            "with --last the later file counts")
        origin[number] = path

    def check_traces(self):
        if self.first is None:
            raise UserError("these are only parts of a trace; also give the "
                            "job's capture, *.swcap")
        of = self.first[1].job.ranks
        for rank, path in self.traced.items():
            if rank >= of:
                raise UserError(f"{path} has rank {rank}, and {self.first[0]} "
                                f"belongs to a job of {of} ranks; "
                                "merge joins the parts of one job")

    def trace_blocks(self):
        """The trace blocks of each rank, from the file that counts."""
        ranks = {}
        for rank, path in sorted(self.traced.items()):
            ranks.setdefault(path, set()).add(rank)
        for path, wanted in ranks.items():
            for block in capture.trace_blocks(path):
                if block.rank in wanted:
                    yield block


class Merge:
    """Join the parts of one job's capture into one file.

      straightway merge all.swcap node0.swcap node1.swcap
      straightway merge all.swtrace app.8.4711.swcap app.8.4711.rank*.swtrace

    All parts must be of one job. Two parts must not have the same rank, except
    with --last. The pieces of a trace that ranks have left join their capture.
    """

    name = "merge"

    @staticmethod
    def arguments(parser):
        add = parser.add_argument
        add("out", metavar="OUT", help="the file to write; it must not exist")
        add("parts", metavar="IN", nargs="+", help=(
            "captures of one job, and parts of its trace"))
        add("--last", action="store_true", help=(
            "of several files with a rank the last one counts"))

    @staticmethod
    def run(options):
        if os.path.lexists(options.out):
            raise UserError(f"{options.out} exists already; give the name of "
                            "a new file first")
        parts, seen = _Parts(options.last), set()
        for path in options.parts:
            if path in seen:
                raise UserError(f"{path} is given twice")
            seen.add(path)
            parts.add(path)
        parts.check_traces()
        blocks = list(parts.blocks.values())
        if parts.symbols:
            blocks.append(capture.Block(b"SYMS", capture.NOBODY,
                                        capture.names_payload(parts.symbols)))
        capture.write(options.out, itertools.chain(blocks,
                                                   parts.trace_blocks()))
        merged = ranges(parts.origin)
        of = parts.first[1].job.ranks
        of_trace = f", the trace of {len(parts.traced)}" * bool(parts.traced)
        print(f"{options.out}: {units.plural(merged.count, 'rank')} of {of}"
              + of_trace)
        missing = profile.load(options.out).missing
        if missing:
            print(f"straightway: ranks {missing} are still missing",
                  file=sys.stderr)
        return 0
