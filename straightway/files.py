"""Files with names that Straightway chooses.

In a folder that others may write to, such a name may already be a symbolic
link of theirs. So Straightway creates the file anew, by a call that follows no
link, before anything opens it for writing.

Root may remove any name. So no new file takes the place of a device, such as
/dev/null, nor of a link to one, such as /dev/stdout.
"""

import contextlib
import errno
import os
import secrets

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def _make(path):
    os.close(os.open(path, _NEW, 0o666))
    return path


def _need_place(path):
    """OSError where `path` is, or leads to, something that is no file."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise OSError(errno.EEXIST, "it is there, and is no file", path)


def instead(path):
    """Create an empty file in place of any file with this name, and return the
    name. OSError when the old one cannot be removed, or is no file."""
    _need_place(path)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    return _make(path)


def draft(path):
    """Create an empty file beside `path`, whose place it is to take, under a
    random name, and return the name. OSError when that fails, or when `path` is
    there and no file."""
    _need_place(path)
    return _make(f"{path}.{secrets.token_hex(8)}.part")
