"""The line that stands for a stack.

Of a Python program that is its innermost line of Python. Of others it is the
innermost frame of the program itself: the frames of the MPI, of bindings such
as mpi4py, of Straightway and of the system's libraries are passed over.
"""

import os
import re

_WRAPPERS = re.compile(
    r"(lib(p?mpi|mpifort\w*|mpich\w*|open-rte|open-pal|pmix|prrte|uc[tpsm]|fabric|"
    r"straightway|c|m|pthread|dl|rt|gomp)(_\w+)?[-.\d]|ld-linux|ld-|libc\.|"
    r"linux-vdso|MPI\.|_?mpi4py|straightway)")
_SYSTEM = re.compile(r"/(usr/)?lib(32|64)?/|\[")
_PATIENCE = 10          # seconds for the names of all places


def _is_wrapper(frame):
    if frame.python:
        return "/mpi4py/" in frame.file or frame.file.startswith("<frozen")
    name = os.path.basename(frame.module)
    return bool(_WRAPPERS.match(name) or "/mpi4py/" in frame.module
                or frame.module.startswith("["))


def shown(stack, of_program=False):
    """The Frame of a stack that stands for it, or None. Where all frames lie in
    wrappers: the innermost one, or None for `of_program`."""
    python = [f for f in stack if f.python]
    for frames in (python, [f for f in stack if not f.python]):
        good = [f for f in frames if not _is_wrapper(f)]
        own = [f for f in good if f.python or not _SYSTEM.match(f.module)]
        if own or good:
            return (own or good)[0]
    return stack[0] if stack and not of_program else None


class Names:
    """Names of frames; each distinct one is looked up once."""

    def __init__(self):
        self._known = {}

    def learn(self, frames):
        """Look up the frames that have no name yet, all together."""
        new = [f for f in dict.fromkeys(frames)
               if f is not None and not f.python and f not in self._known]
        if not new:
            return
        from straightway import symbols
        named = symbols.resolve([(f.module, f.build_id, f.offset)
                                 for f in new], patience=_PATIENCE)
        self._known.update(zip(new, named))

    def _told(self, frame):
        """(function, file, line)"""
        if frame.python:
            return frame.function, frame.file, frame.line
        told = self._known.get(frame, {})
        return told.get("function"), told.get("file"), told.get("line")

    def place(self, frame):
        """x.c:12, or app+0x12ab; "" for no frame"""
        if frame is None:
            return ""
        _, file, line = self._told(frame)
        if file:
            return os.path.basename(file) + (f":{line}" if line else "")
        name = os.path.basename(frame.module) or "?"
        return f"{name}+0x{frame.offset:x}"

    def label(self, frame):
        """exchange (x.c:12)"""
        if frame is None:
            return ""
        function = self._told(frame)[0]
        place = self.place(frame)
        return f"{function} ({place})" if function else place


def _frame(thread):
    """Where a thread is: the caller of the call that it is in; else its own
    stack, and the caller of its last call where no stack was taken."""
    call = thread.call.stack if thread.call else []
    return shown(call if thread.inside else thread.stack or call)


def name(job, names):
    """Give each thread of a job its place."""
    threads = [t for rank in job.ranks.values() for t in rank.threads]
    frames = [_frame(thread) for thread in threads]
    names.learn(frames)
    for thread, frame in zip(threads, frames):
        thread.place, thread.label = names.place(frame), names.label(frame)
        thread.sampled = bool(thread.stack)
