"""Files whose names Straightway chooses itself.

A name that others can guess, in a folder that others may write to, may be a
symbolic link of theirs by now. So such a file is made anew, by a call that
follows no link, before anything opens it to write.
"""

import contextlib
import os
import secrets

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def _make(path):
    os.close(os.open(path, _NEW, 0o666))
    return path


def instead(path):
    """Make an empty file in place of whatever has this name; returns the
    name. OSError when that cannot be removed."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    return _make(path)


def draft(path):
    """Make an empty file beside `path`, under a name that nobody can guess;
    returns the name. OSError."""
    return _make(f"{path}.{secrets.token_hex(8)}.part")
