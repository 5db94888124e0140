"""A report as plain data, in the form of where.schema.json, and readings back
from it.

The data holds the readings themselves, so that those of several nodes can be
put together later.
"""

import dataclasses
import json

from straightway.errors import UserError
from straightway.ranges import ranges
from straightway.where import launched, standing
from straightway.where.reader import Reading

SCHEMA = "straightway-where/1"


def _reading(reading):
    return {"reading": reading.plain,
            "moved": sorted(map(list, reading.moved)),
            "launched": [[pid, *known]
                         for pid, known in sorted(reading.launched.items())]}


def _rank(view, number):
    stand = view.stands[number]
    rank = view.job.ranks.get(number)
    found = {"rank": number, "standing": stand,
             "does": standing.words(rank, stand)[0]}
    if rank is None:
        return found
    thread = standing.waiting_call(rank) if stand == standing.WAITS else \
        standing.free_thread(rank)
    call = thread.call if thread else None
    inside = bool(thread and thread.inside and call)
    of = call.communicator if call else None
    return {**found, "pid": rank.pid, "node": rank.node, "state": rank.state,
            "cpu": rank.cpu, "inside": inside,
            "call": call.name if call else None,
            "communicator": of.label if of else None,
            "number": call.number if call else None,
            "since": call.since if inside else None,
            "place": thread.label if thread else ""}


def plain(report):
    """A Report (commands/where.py) as plain data."""
    view, job = report.view, report.job
    return {
        "schema": SCHEMA, "job": job.id, "program": job.program,
        "flavour": job.first.flavour if job.first else "",
        "size": job.size, "age": job.age, "nodes": list(job.nodes),
        "verdict": report.findings[0].sentence,
        "hangs": report.findings[0].hangs,
        "findings": [dataclasses.asdict(one) for one in report.findings],
        "ranks": [_rank(view, number) for number in sorted(view.stands)],
        "rows": [{"ranks": str(ranges(row.ranks)), "what": row.what,
                  "since": row.since, "place": row.place}
                 for row in report.rows],
        "messages": [_message(m) for m in report.messages],
        "receives": [_message(m) for m in report.receives],
        "hints": report.hints,
        "readings": [_reading(one) for one in report.readings]}


def part(readings):
    """Readings alone, as plain data."""
    return {"schema": SCHEMA, "readings": [_reading(one) for one in readings]}


def _message(one):
    return {"from": one.source, "to": one.target, "tag": one.tag,
            "communicator": one.communicator, "count": one.count,
            "place": one.place, "since": one.since}


def without(processes, hints):
    """What gdb tells, as plain data: there is no verdict."""
    return {"schema": SCHEMA, "verdict": None,
            "processes": [dataclasses.asdict(one) for one in processes],
            "hints": hints}


# Back -----------------------------------------------------------------------

def _objects(path):
    """The JSON objects of a file, one after the other: what several nodes have
    written to one stream."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: this is no text") from None
    decoder, at, found = json.JSONDecoder(), 0, []
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text):
            return found
        try:
            one, at = decoder.raw_decode(text, at)
        except ValueError as error:
            raise UserError(f"{path}: this is no JSON: {error}") from None
        found.append(one)


def readings(path, one):
    """The Readings in one object of a file."""
    if isinstance(one, dict) and "processes" in one and "node" in one:
        return [Reading(one, {}, frozenset())]
    if not isinstance(one, dict) or one.get("schema") != SCHEMA or \
            not isinstance(one.get("readings"), list):
        raise UserError(f"{path} was not written by straightway where --json")
    found = []
    for each in one["readings"]:
        try:
            found.append(Reading(
                each["reading"],
                {pid: launched.Launched(*known)
                 for pid, *known in each["launched"]},
                frozenset(map(tuple, each["moved"]))))
        except (KeyError, TypeError, ValueError):
            raise UserError(f"{path}: a reading in it is damaged") from None
    return found


def last(found):
    """Of each node the last one of some Readings."""
    return list({str(one.plain.get("node")): one for one in found
                 if isinstance(one.plain, dict)}.values())


def read(paths):
    """The Readings in some files, of each node the last one."""
    return last(reading for path in paths for one in _objects(path)
                for reading in readings(path, one))
