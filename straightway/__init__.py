"""Straightway: the command line and the reports.

The library itself is native; what is here finds it, asks it, and shows what
it says.
"""

from importlib import metadata

try:
    __version__ = metadata.version("straightway")
except metadata.PackageNotFoundError:      # from a source folder
    __version__ = "unknown"
