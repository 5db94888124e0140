"""Readings as the native program prints them, made for tests.

    made = Made(4)
    world = made.world()
    made.blocked(0, "MPI_Recv", comm=world, peer=1, tag=8)
    made.sent(1, 0, world, {9: 1})
    made.user(1, "x.c", 10)
    made.verdict()
"""

import json

from straightway.commands import where
from straightway.where import launched, model, places, reader


class Made:
    def __init__(self, ranks, job="job-1", node="alpha", node_ranks=None):
        self.job, self.node = job, node
        self.processes = [self._process(n, ranks, node_ranks or ranks)
                          for n in range(ranks)]
        self.moved, self.launched, self.refused = set(), {}, []
        self._ids = 0

    def _process(self, number, ranks, node_ranks):
        pid = 1000 + number
        return {
            "pid": pid, "job": self.job, "rank": number, "ranks": ranks,
            "node_ranks": node_ranks, "spawned": False,
            "program": "/home/u/app", "flavour": "mpich",
            "accelerated": True, "thread_level": 0, "finalized": False,
            "whole": True, "started": 100.0, "state": "S", "cpu": 0.0,
            "lost": dict.fromkeys(("threads", "comms", "pairs", "requests",
                                   "windows"), 0),
            "threads": [self._thread(pid, True)],
            "comms": [], "pairs": [], "requests": [], "windows": []}

    @staticmethod
    def _thread(tid, main=False):
        return {"tid": tid, "main": main, "state": "S", "finished": 5,
                "inside": False, "call": None, "stack": None}

    def __getitem__(self, number):
        return next(p for p in self.processes if p["rank"] == number)

    # Communicators -------------------------------------------------------

    def comm(self, name, members, remote=0, known=True):
        """The row of a new communicator, on all of its members."""
        self._ids += 1
        row = self._ids
        for i, number in enumerate(members):
            self[number]["comms"].append({
                "row": row, "id": f"{row:016x}" if known else "0" * 16,
                "name": name, "size": len(members) - remote, "rank": i,
                "remote": remote, "first": members[0], "begun": 0,
                "recent": []})
        return row

    def world(self):
        return self.comm("MPI_COMM_WORLD",
                         [p["rank"] for p in self.processes])

    def of(self, number, row):
        return next(c for c in self[number]["comms"] if c["row"] == row)

    def began(self, number, row, *calls, first=1):
        """The collectives that a rank has begun: names, or (name, root)."""
        told = [(c, None) if isinstance(c, str) else c for c in calls]
        comm = self.of(number, row)
        comm["begun"] = first + len(told) - 1
        comm["recent"] = [
            {"number": first + i, "call": name, "root": root}
            for i, (name, root) in enumerate(told)][-8:]

    # Calls -----------------------------------------------------------------

    @staticmethod
    def line(file, line, function="work"):
        return {"file": f"/src/{file}", "line": line, "function": function}

    @staticmethod
    def call(name, **changes):
        return {"name": name, "comm": None, "window": None, "peer": None,
                "tag": None, "to": None, "to_tag": None, "root": None,
                "bytes": 0, "number": None, "requests": 0, "since": None,
                "stack": [], **changes}

    def thread(self, number, index=0):
        threads = self[number]["threads"]
        while len(threads) <= index:
            threads.append(self._thread(self[number]["pid"] * 10
                                        + len(threads)))
        return threads[index]

    def blocked(self, number, name, /, at=("x.c", 10), thread=0, **changes):
        """A thread waits in a call."""
        changes.setdefault("since", 30.0)
        one = self.thread(number, thread)
        one.update(inside=True, call=self.call(
            name, stack=[self.line(*at)], **changes))
        return one

    def collective(self, number, name, row, which, root=None, **changes):
        """A rank waits in its `which`-th collective."""
        self.began(number, row, *[name] * (min(which, 8) - 1), (name, root),
                   first=max(1, which - 7))
        return self.blocked(number, name, comm=row, number=which, root=root,
                            **changes)

    def user(self, number, file="x.c", line=10, last=None, thread=0):
        """A thread is in user code, after its last call."""
        one = self.thread(number, thread)
        one.update(inside=False, call=last, stack=[self.line(file, line)])
        return one

    def request(self, number, call, kind, /, **changes):
        self[number]["requests"].append({
            "call": call, "kind": kind, "persistent": False, "active": True,
            "comm": None, "peer": None, "tag": None, "bytes": 0,
            "number": None, "since": 30.0, "partitions": 0, "ready": 0,
            "waited": None, "stack": [self.line("x.c", 5)], **changes})

    def waitall(self, number, name="MPI_Waitall", /, **changes):
        """A rank waits for all of its requests."""
        requests = self[number]["requests"]
        one = self.blocked(number, name, requests=len(requests), **changes)
        for request in requests:
            request["waited"] = one["tid"]
        return one

    # Messages ---------------------------------------------------------------

    def sent(self, source, target, row, tags, received=None, sums=True):
        """Messages by tag that a rank has sent, and the other received."""
        for number, peer, sends, counts in (
                (source, target, True, tags),
                (target, source, False, received or {})):
            if counts and any(p["rank"] == number for p in self.processes):
                pair = {"comm": row, "peer": peer, "sends": sends,
                        "messages": sum(counts.values()),
                        "latest": list(counts)[-6:]}
                if sums:
                    for name, power in (("tag_sum", 1), ("tag_squares", 2)):
                        pair[name] = str(sum(
                            t ** power * n for t, n in counts.items())
                            % 2 ** 64)
                self[number]["pairs"].append(pair)

    def window(self, row, members, /, number=1, **changes):
        self._ids += 1
        for one in members:
            self[one]["windows"].append({
                "row": self._ids, "comm": row, "number": number, "fences": 0,
                "posts": 0, "waits": 0, "starts": 0, "completes": 0,
                "origins": [], "origin_count": 0, "targets": [],
                "target_count": 0, "locked": None, "locks": 0,
                "exclusive": False, **changes})
        return self._ids

    def win(self, number, row, /, **changes):
        """Change a rank's window."""
        for name, count in (("origins", "origin_count"),
                            ("targets", "target_count")):
            if name in changes:
                changes.setdefault(count, len(changes[name]))
        next(w for w in self[number]["windows"]
             if w["row"] == row).update(changes)

    # Processes ------------------------------------------------------------

    def drop(self, number):
        self.processes = [p for p in self.processes if p["rank"] != number]

    def moves(self, *numbers):
        for number in numbers:
            for thread in self[number]["threads"]:
                self.moved.add((self[number]["pid"], thread["tid"]))

    def new(self, number, size, inside=True):
        """A rank is in MPI_Init, or before it; its launcher knows it."""
        process = self[number]
        pid = process["pid"]
        process.update(rank=-1, job="", ranks=0, node_ranks=0)
        self.launched[pid] = launched.Launched(self.job, number, size)
        process["threads"][0].update(
            inside=inside, stack=[self.line("x.c", 3)],
            call=self.call("MPI_Init", since=20.0) if inside else None)

    # Answers ---------------------------------------------------------------

    @property
    def plain(self):
        return {"format": 1, "node": self.node, "now": 1e9,
                "refused": self.refused, "processes": self.processes}

    def reading(self):
        return reader.Reading(json.loads(json.dumps(self.plain)),
                              self.launched, frozenset(self.moved))

    def report(self, *others):
        """The Report of the job; `others`: Made ones of other nodes."""
        readings = [one.reading() for one in (self, *others)]
        jobs = model.jobs(readings)
        return where._report(jobs[self.job], readings, places.Names())

    def sentences(self, *others):
        return [one.sentence for one in self.report(*others).findings]

    def verdict(self, *others):
        return self.sentences(*others)[0]
