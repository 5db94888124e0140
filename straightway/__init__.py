"""Straightway's command line and reports.

The library itself is native. This package finds the native parts, runs them,
and shows their answers.
"""


def __getattr__(name):
    """The version, found out when somebody asks: importlib.metadata takes
    longer to load than a short command takes."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import metadata
    try:
        found = metadata.version("straightway")
    except metadata.PackageNotFoundError:      # from a source folder
        found = "unknown"
    globals()["__version__"] = found
    return found
