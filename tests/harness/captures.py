"""Captures made by hand, for tests and for trying out reports.

    job = Job(ranks=4)
    rank = job.ranks[0]
    here = rank.native("/opt/app/halo.c", 42, "exchange")
    rank.call("MPI_Send", 100, 2 * MS, site=[here], size=4096,
              datatype="MPI_DOUBLE", peer=1)
    job.write("some.swcap")

`halo` builds a whole run of a stencil code, with everything that reports
show:

    halo(64).write("halo.swcap")
    python -c 'import captures; captures.halo(64).write("halo.swcap")'
"""

import math

from straightway import capture

US, MS, S = 1000, 1000 ** 2, 1000 ** 3
NAMES = {"MPI_DOUBLE": 8, "MPI_INT": 4, "MPI_BYTE": 1, "MPI_PACKED": 1,
         "MPI_CHAR": 1, "MPI_FLOAT": 4}
_CALLS = ("thread procedure site communicator datatype operation region "
          "size_bin root calls errors time min_time max_time sent received "
          "min_size max_size probed waited record showing shown_again "
          "sent_between received_between side").split()
_DEVICE = "device_calls device_sent device_received device_pieces".split()
_PEERS = ("kind peer sent_messages sent_bytes received_messages "
          "received_bytes").split()


def size_bin(size):
    return size.bit_length()


class Rank:
    """One rank's block, under construction."""

    def __init__(self, job, number):
        self.job, self.number = job, number
        self.header = {
            "straightway": "0.1.0", "rank": number, "job": job.header,
            "node": f"node{number // job.node_ranks}",
            "pid": 4000 + number, "thread_level": 0, "processors": 1,
            "node_processors": job.node_processors,
            "node_ranks": min(job.node_ranks, job.header["ranks"]),
            "node_number": number // job.node_ranks,
            "end": "finalize", "start": 5 * S, "stop": 5 * S + job.wall,
            "init_time": 80 * MS, "cpu": int(0.98 * job.wall),
            "own_call_cost": 41, "folded": 0,
            "procedures": [None], "modules": [None], "python": [None],
            "communicators": [None], "datatypes": [None],
            "operations": [None],
            "regions": [{"name": "", "entered": 0, "time": 0}]}
        self.rows, self.times, self.peers = [], [], {}
        self.frames, self.stacks, self.sites = [], [], {}
        self.world = self.communicator("MPI_COMM_WORLD", "1",
                                       [[0, job.header["ranks"] - 1]])

    def _index(self, name, entry):
        entries = self.header[name]
        if entry not in entries:
            entries.append(entry)
        return entries.index(entry)

    def communicator(self, name, id, members, size=None, rank=None):
        """An index for call(communicator=...)."""
        if size is None:
            size = sum(b - a + 1 for a, b in members)
        return self._index("communicators", {
            "name": name, "id": id, "size": size,
            "rank": self.number if rank is None else rank, "remote_size": 0,
            "members": members})

    def region(self, name, entered, time):
        """An index for call(region=...)."""
        return self._index("regions", {"name": name, "entered": entered,
                                       "time": time})

    def native(self, file, line, function, module=None, offset=None):
        """A native frame that SYMS names; with file None it does not."""
        module = module or self.job.program
        if offset is None:
            offset = 16 * line + 0x10000 * sum(map(ord, file or ""))
        if file:
            self.job.symbols[module, "b1d", offset] = capture.Symbol(
                function, file, line)
        place = self._index("modules", {"path": module, "build_id": "b1d"})
        return 0, place, offset

    def python(self, file, line, function):
        place = self._index("python", {"file": file, "function": function,
                                       "line": line})
        return 1, place, 0

    def _site(self, frames):
        if not frames:
            return 0
        frames = tuple(frames)
        if frames not in self.sites:
            number = self.sites[frames] = len(self.sites) + 1
            for depth, frame in enumerate(frames):
                if frame not in self.frames:
                    self.frames.append(frame)
                self.stacks.append((number, depth,
                                    self.frames.index(frame)))
        return self.sites[frames]

    def call(self, procedure, calls, time, *, site=(), size=None,
             communicator=None, datatype=None, operation=None, region=0,
             root=None, sent=0, received=0, waited=None, probed=None,
             errors=0, thread=0, peer=None, peer_kind=0, min_time=None,
             max_time=None, showing=0, shown_again=0, sent_between=0,
             received_between=0, side=0, device_pieces=None):
        """A row. `waited`: ns of `probed`, which is all of the time unless
        given; None: none was looked at. `peer` counts `sent` and `received`
        with that rank, too; `sent` is calls * size for it by default.
        `device_pieces`: the data lie in the memory of a GPU, in so many pieces
        with gaps."""
        if peer is not None and not sent and not received:
            sent = calls * (size or 0)
        if waited is not None and probed is None:
            probed = time
        mean = time // calls
        row = dict(
            thread=thread, procedure=self._index("procedures", procedure),
            site=self._site(site),
            communicator=self.world if communicator is None
            else communicator,
            datatype=self._index("datatypes", {
                "name": datatype, "size": NAMES.get(datatype, 8)})
            if datatype else 0,
            operation=self._index("operations", operation)
            if operation else 0,
            region=region, size_bin=size_bin(size or 0),
            root=0 if root is None else root + 1, calls=calls,
            errors=errors, time=time,
            min_time=mean // 2 if min_time is None else min_time,
            max_time=min(time, 3 * mean) if max_time is None else max_time,
            sent=sent, received=received, min_size=size or 0,
            max_size=size or 0, probed=probed or 0, waited=waited or 0,
            showing=showing, shown_again=shown_again,
            sent_between=sent_between, received_between=received_between,
            side=side)
        if device_pieces is not None:
            row.update(zip(_DEVICE, (calls, sent, received, device_pieces)))
        record = len(self.rows)
        self.rows.append(row)
        middle = max(0, mean.bit_length() - 1)
        some = calls // 4
        self.times += [(record, b, n) for b, n in (
            (middle - 1, some), (middle, calls - 2 * some),
            (middle + 1, some)) if n and b >= 0]
        if peer is not None:
            self.peer(peer, calls if sent else 0, sent,
                      calls if received else 0, received, peer_kind)

    def peer(self, peer, sent_messages=0, sent=0, received_messages=0,
             received=0, kind=0):
        sums = self.peers.setdefault((kind, peer), [0, 0, 0, 0])
        for i, n in enumerate((sent_messages, sent, received_messages,
                               received)):
            sums[i] += n

    def payload(self):
        def columns(names, rows):
            return {name: [row[i] for row in rows]
                    for i, name in enumerate(names)}

        return capture.pack(self.header, {
            "calls": {name: [row.get(name, 0) for row in self.rows]
                      for name in (*_CALLS, *(
                          _DEVICE if any("device_calls" in row
                                         for row in self.rows) else ()))},
            "times": columns(("record", "bucket", "count"), self.times),
            "peers": columns(_PEERS, [(*key, *sums) for key, sums
                                      in self.peers.items()]),
            "frames": columns(("language", "place", "offset"), self.frames),
            "stacks": columns(("site", "depth", "frame"), self.stacks)})


class Job:
    """A run of `ranks` ranks for `wall` ns. `absent` ranks have no block."""

    def __init__(self, ranks=4, wall=10 * S, node_ranks=None,
                 node_processors=None, program="/opt/app/bin/app",
                 absent=(), **header):
        self.program, self.wall, self.absent = program, wall, set(absent)
        self.node_ranks = node_ranks or ranks
        self.node_processors = node_processors or self.node_ranks
        self.header = dict({
            "program": program, "arguments": ["-n", "512"], "id": "4711",
            "ranks": ranks, "began": 1780000000,
            "mpi": "Open MPI v5.0.11, package: test",
            "mpi_library": "/opt/mpi/lib/libmpi.so.40", "flavour": "ompi",
            "accelerated": False, "stack_depth": 2}, **header)
        self.symbols = {}
        self.ranks = [Rank(self, number) for number in range(ranks)]

    def bind(self, packages=2, cores=2, numas=1):
        """Nodes of `packages` x `numas` x `cores`, as a capture has them. Each
        rank is bound to the next core of its node."""
        each = numas * cores
        domains = {
            "package": [f"{i * each}-{(i + 1) * each - 1}"
                        for i in range(packages)],
            "numa": [f"{i * cores}-{(i + 1) * cores - 1}"
                     for i in range(packages * numas)],
            "cache": [], "core": [str(i) for i in range(packages * each)]}
        for rank in self.ranks:
            place = rank.number % self.node_ranks
            rank.header["cpus"] = str(place)
            if place == 0:
                rank.header["domains"] = domains
        return self

    def blocks(self, symbols=True):
        found = [capture.Block(b"RANK", r.number, r.payload())
                 for r in self.ranks if r.number not in self.absent]
        if symbols and self.symbols:
            found.append(capture.Block(b"SYMS", capture.NOBODY,
                                       capture.names_payload(self.symbols)))
        return found

    def write(self, path, symbols=True):
        """Write the file; returns its path."""
        capture.write(path, self.blocks(symbols))
        return str(path)


def halo(ranks=8, *, steps=1000, wall=20 * S, imbalance=0.2, python=False,
         io=True, regions=True, extra_rows=0, **job):
    """A stencil code in 2D: halo exchange, allreduce, a broadcast at the
    start, a checkpoint. Rank numbers shift the load by up to `imbalance`, so
    the first ranks wait most. `extra_rows` adds sites of short calls."""
    job.setdefault("node_ranks", max(1, ranks // 2))
    job = Job(ranks, wall, **job)
    rows = int(math.sqrt(ranks)) or 1
    for rank in job.ranks:
        late = rank.number / max(1, ranks - 1)      # 0 to 1
        waits = int(imbalance * wall * (1 - late))
        solve = save = 0
        if regions:
            solve = rank.region("solve", 1, int(0.9 * wall))
            save = rank.region("solve/checkpoint", 10, int(0.05 * wall))

        def place(file, line, function, rank=rank):
            if python:
                return rank.python(f"/home/u/app/{file}.py", line, function)
            return rank.native(f"/home/u/app/src/{file}.c", line, function)

        main = place("main", 88, "main")
        halo_site = [place("halo", 142, "exchange_halo"), main]
        row = rank.communicator("rows", f"a{rank.number // rows:x}",
                                [[rank.number // rows * rows,
                                  min(ranks, rank.number // rows * rows
                                      + rows) - 1]])
        rank.call("MPI_Bcast", 12, 30 * MS, size=65536, root=0,
                  site=[place("input", 31, "read_input"), main],
                  datatype="MPI_BYTE", waited=24 * MS,
                  sent=12 * 65536 if rank.number == 0 else 0,
                  received=0 if rank.number == 0 else 12 * 65536)
        def away(peer, rank=rank):
            return job.node_ranks < ranks and (
                peer // job.node_ranks != rank.number // job.node_ranks)

        for peer in sorted({(rank.number + 1) % ranks,
                            (rank.number - 1) % ranks,
                            (rank.number + rows) % ranks}):
            rank.call("MPI_Isend", steps, steps * 900, size=8192,
                      site=halo_site, datatype="MPI_DOUBLE", region=solve,
                      peer=peer, sent_between=steps * 8192 * away(peer))
        rank.call("MPI_Irecv", 3 * steps, 3 * steps * 400, size=8192,
                  site=halo_site, datatype="MPI_DOUBLE", region=solve)
        rank.call("MPI_Waitall", steps, steps * 45 * US + waits // 2,
                  site=[place("halo", 150, "exchange_halo"), main],
                  region=solve, received=3 * steps * 8192,
                  received_between=steps * 8192 * sum(
                      away((rank.number + far) % ranks)
                      for far in (1, -1, -rows)),
                  probed=(steps * 45 * US + waits // 2) // 2,
                  waited=waits // 4)
        rank.call("MPI_Allreduce", steps, steps * 22 * US + waits // 2,
                  size=8, operation="MPI_SUM", datatype="MPI_DOUBLE",
                  site=[place("solver", 77, "residual"), main],
                  region=solve, sent=8 * steps, received=8 * steps,
                  sent_between=8 * steps * (job.node_ranks < ranks),
                  received_between=8 * steps * (job.node_ranks < ranks),
                  waited=waits // 2)
        rank.call("MPI_Alltoall", steps // 10, steps // 10 * 1200 * US,
                  size=24576, communicator=row, datatype="MPI_DOUBLE",
                  site=[place("fft", 210, "transpose"), main], region=solve,
                  sent=steps // 10 * 24576 * rows,
                  received=steps // 10 * 24576 * rows,
                  waited=steps // 10 * 300 * US)
        rank.call("MPI_Comm_split", 2, 300 * US,
                  site=[place("main", 40, "main")], waited=200 * US)
        if io:
            rank.call("MPI_File_write_at_all", 10, 400 * MS, size=4 << 20,
                      site=[place("dump", 19, "checkpoint"), main],
                      sent=40 << 20, region=save, datatype="MPI_DOUBLE")
        for i in range(extra_rows):
            rank.call("MPI_Send", 10, 10 * (1000 + i), size=8 << i % 12,
                      site=[place("extra", 100 + i, f"part{i}")],
                      datatype="MPI_INT", peer=(rank.number + i) % ranks)
    return job
