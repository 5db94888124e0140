"""Slurm's lists of names: "n[01-03,7],gpu1" is n01, n02, n03, n7, gpu1."""

import itertools
import re

MOST = 1 << 20          # names: a longer list must be a mistake
_LONGEST = 8            # digits of a number; more are an address or a serial

_GUID = re.compile(r"[SHR]-[0-9a-f]{8,}$", re.I)
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")


def split(text):
    """The words between commas outside of brackets."""
    word, depth = "", 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if depth not in (0, 1):
            raise ValueError(f"{text[:60]}: a bracket too many")
        if letter == "," and not depth:
            yield word
            word = ""
        else:
            word += letter
    if depth:
        raise ValueError(f"{text[:60]}: a bracket is not closed")
    yield word


def _numbers(text):
    """01-03,7: its numbers as they are written."""
    for word in text.split(","):
        found = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", word)
        if not found:
            raise ValueError(f"[{text[:60]}] is no list of numbers, like "
                             "[0-3,7]")
        first, last = found[1], found[2] or found[1]
        if not 0 <= int(last) - int(first) < MOST:
            raise ValueError(f"{word.strip()} goes from more to less, or is "
                             "too long")
        for number in range(int(first), int(last) + 1):
            yield f"{number:0{len(first)}}"


def fold(names):
    """The list of names, shortest where names differ by a number at the end.
    A GUID ends with no number.
    """
    found, groups = [], {}
    parts = [re.fullmatch(r"(.*?)(\d*)", name).groups() for name in names]
    # 07 and 7 are two names: where a stem has zeros, its names have one width.
    padded = {stem for stem, digits in parts
              if digits[:1] == "0" and len(digits) > 1}
    for name, (stem, digits) in zip(names, parts):
        key = stem, len(digits) if stem in padded else 0
        if not digits or len(digits) > _LONGEST or _GUID.match(name):
            found.append(name)
        elif key in groups:
            groups[key].add(int(digits))
        else:
            groups[key] = {int(digits)}
            found.append(key)
    for i, key in enumerate(found):
        if isinstance(key, tuple):
            found[i] = _folded(*key, sorted(groups[key]))
    return ",".join(found)


def _folded(stem, width, numbers):
    """n, 2, [1, 2, 3, 7]: n[01-03,07]"""
    runs = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    text = ",".join("-".join(f"{n:0{width}}" for n in sorted(set(run)))
                    for run in runs)
    return stem + (text if len(numbers) == 1 else f"[{text}]")


def expand(text):
    """The names of a list. ValueError where the text is none."""
    found = []
    for word in split(text):
        pieces = _BRACKETS.split(word.strip())
        choices = [list(itertools.islice(_numbers(piece), MOST + 1))
                   if i % 2 else [piece] for i, piece in enumerate(pieces)]
        # No more than tell that these are too many.
        found += itertools.islice(map("".join, itertools.product(*choices)),
                                  MOST + 1)
        if len(found) > MOST:
            raise ValueError(f"{text[:60]}: more than {MOST} names")
    if not all(re.fullmatch(r"[\w.:-]+", name) for name in found):
        raise ValueError(f"{text[:60] or 'nothing'} is no list of names, like "
                         "n[01-16],login1")
    return found
