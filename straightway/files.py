"""Files with names that Straightway chooses.

In a folder that others may write to, such a name may already be a symbolic
link of theirs. So Straightway creates the file anew, by a call that follows no
link, before anything opens it for writing.
"""

import contextlib
import os
import secrets

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def _make(path):
    os.close(os.open(path, _NEW, 0o666))
    return path


def instead(path):
    """Create an empty file in place of any file with this name, and return the
    name. OSError when the old one cannot be removed."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    return _make(path)


def draft(path):
    """Create an empty file beside `path`, under a random name, and return the
    name. OSError when that fails."""
    return _make(f"{path}.{secrets.token_hex(8)}.part")
