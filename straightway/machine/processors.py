"""Sets of processors, each the bits of one integer: bit p is processor p.

The kernel writes such a set as "0-3,8", and hwloc as "0x0000000f,0x00000001".
"""

import re

MOST = 1 << 16          # processors: a larger number must be a mistake


def parse(text):
    """The set of "0-3,8". ValueError where the text is no such list."""
    found = 0
    for word in filter(None, text.strip().split(",")):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", word.strip())
        first, last = (int(n) for n in (match[1], match[2] or match[1])) \
            if match else (1, 0)
        if not first <= last < MOST:
            raise ValueError(f"{word.strip()[:40]} is no list of processors, "
                             "like 0-3,8")
        found |= (1 << last + 1) - (1 << first)
    return found


def parse_mask(text):
    """The set of "0x0000000f,0x00000001", or without 0x: words of 32 bits, the
    highest first. ValueError for others, such as hwloc's 0xf...f, which has no
    end."""
    found = 0
    for word in text.split(","):
        if not re.fullmatch(r"((0x)?[0-9a-fA-F]{1,8})?", word):
            raise ValueError(f"{text[:40]} is no set of processors, like "
                             "0x0000000f")
        found = found << 32 | int(word or "0", 16)
    if found >> MOST:
        raise ValueError(f"a set with more than {MOST} processors")
    return found


def members(cpus):
    """The numbers in a set, ascending."""
    found, at = [], 0
    while cpus:
        skip = (cpus & -cpus).bit_length() - 1
        at, cpus = at + skip, cpus >> skip + 1
        found.append(at)
        at += 1
    return found


def first(cpus):
    """The lowest number; -1 in an empty set."""
    return (cpus & -cpus).bit_length() - 1


def count(cpus):
    return bin(cpus).count("1")


def text(cpus):
    """"0-3,8", as the kernel writes it."""
    parts, numbers = [], members(cpus)
    for i, n in enumerate(numbers):
        if i and numbers[i - 1] == n - 1:
            parts[-1][1] = n
        else:
            parts.append([n, n])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)
