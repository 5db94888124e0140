"""Straightway's command line and reports.

The library itself is native. This package finds the native parts, runs them,
and shows their answers.
"""

from importlib import metadata

try:
    __version__ = metadata.version("straightway")
except metadata.PackageNotFoundError:      # from a source folder
    __version__ = "unknown"
