"""Names of a capture's native frames: from its SYMS block, else from the
modules where these still exist."""

from straightway.capture import file as captures

PATIENCE = 20       # seconds: a user waits at the end of a run


def add(capture):
    """Resolve the frames of a Capture that no SYMS block names. Return whether
    there were any; the capture keeps unknown ones as unknown."""
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
    return True


def keep(capture):
    """Resolve, and write the names into the file, so that it can travel.
    UserError when that fails."""
    if add(capture) or not capture.named:
        captures.append(capture.path, b"SYMS",
                        captures.names_payload(capture.symbols))
        capture.named = True
