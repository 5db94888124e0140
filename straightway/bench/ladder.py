"""What the benchmark knows of the protocols of a message: the rungs from two
copies to none, and their cells."""

from straightway.bench import messages, results

PROTOCOLS = {
    "host": "the MPI's own",
    "two-copy": "the sender copies into shared memory, the receiver out of it",
    "cma": "the receiver's system call (process_vm_readv) copies from the "
           "sender's memory",
    "one-copy": "the receiver copies from the sender's memory, which it has "
                "mapped",
    "joint": "the same, and sender and receiver copy a part each",
    "give": "straightway_give and straightway_take: no process copies"}

# By page tables, which Straightway does not use; "all" does not mean these.
PAGES = {
    "remap": "the receiver maps the sender's pages copy-on-write",
    "remap-huge": "the same with huge pages of shared memory"}

TEXTS = {**PROTOCOLS, **PAGES}

# The patterns that go by protocols, and the time of each.
PATTERNS = {
    "pingpong": "half of a round trip",
    "read": "half of a round trip, the receiver reads each line",
    "write": "half of a round trip, the receiver writes to each line",
    "rewrite": "half of a round trip, the sender writes to each line before"}

# --pattern remap stands for these patterns, with these protocols.
REMAP = (["read", "write", "rewrite"], ["one-copy", "give", *PAGES])

# A cell counts if so many of its messages went the way of its column: its
# median is then one of theirs. A sender that waits for long copies aside, and a
# late one does not help.
ENOUGH = 0.8


def cell(line, floors, protocols):
    """One cell of a report: a protocol is None if its messages did not go so;
    `went` has the share that did."""
    found = {"operation": line["cell"], "size": line["size"],
             "memcpy": line["memcpy"], "went": line["went"], "ratio": None,
             "floor": messages.floor(line["cell"], line["memcpy"], floors)}
    for name in protocols:
        timed = results.timing(line, name)
        enough = line["went"].get(name, 0) >= ENOUGH
        found[name] = timed if enough or (timed and not timed["right"]) \
            else None
    return found


def peaks(cells, protocols):
    """The highest bandwidth of each protocol, and its size."""
    found = dict.fromkeys(protocols)
    for one in cells:
        for name in protocols:
            if one[name] and (not found[name] or one[name]["bandwidth"]
                              > found[name]["bandwidth"]):
                found[name] = {"bandwidth": one[name]["bandwidth"],
                               "size": one["size"]}
    return found


def missing(cells, protocols):
    """[(protocol, cell, share of its messages that went so)] of the cells
    without a figure."""
    return [(name, one, one["went"].get(name, 0))
            for name in protocols for one in cells if not one[name]]
