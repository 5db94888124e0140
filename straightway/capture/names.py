"""Names of a capture's native frames: from its SYMS block, else from the
modules where these still exist."""

import contextlib

from straightway.capture import file as captures
from straightway.errors import UserError

PATIENCE = 20       # seconds: a user waits for the report


def add(capture):
    """Resolve the frames of a Capture that no SYMS block names. Return whether
    there are new names; the capture keeps unknown frames as unknown."""
    unknown = [frame for frame in capture.native_frames()
               if frame not in capture.symbols]
    if not unknown:
        return False
    from straightway import symbols     # slow to import
    for frame, found in zip(unknown,
                            symbols.resolve(unknown, patience=PATIENCE)):
        capture.symbols[frame] = captures.Symbol(
            found.get("function") or "", found.get("file") or "",
            found.get("line") or 0)
    return any(any(capture.symbols[frame]) for frame in unknown)


def keep(capture, mend=True):
    """Resolve, and write the names into the file, so that it can travel.
    Frames without a name stay out of the file: a machine that has the modules
    may know them. UserError when the file cannot be written, or is damaged and
    is not to be mended."""
    if add(capture):
        captures.append(capture.path, b"SYMS", captures.names_payload({
            frame: symbol for frame, symbol in capture.symbols.items()
            if any(symbol)}), mend=mend)
        capture.named = True


def try_to_keep(capture):
    """As keep, for a report: where the file cannot be written, or is damaged,
    it stays as it is."""
    with contextlib.suppress(UserError):
        keep(capture, mend=False)
