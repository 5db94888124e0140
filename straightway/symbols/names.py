"""Function names as the programmer wrote them.

Compilers mangle names of C++ functions and of Fortran's module procedures, and
mark specialised copies. The C++ runtime itself demangles them.
"""

import ctypes
import functools
import pathlib
import re

_FORTRAN = {".f", ".for", ".ftn", ".f77", ".f90", ".f95", ".f03", ".f08"}
# Suffixes that compilers add to a part or a copy of a function, or to a
# function within another.
_COPY = re.compile(r"(\.(\d+|isra|constprop|part|cold|lto_priv|localalias|"
                   r"llvm|_omp_fn|omp_outlined)(\.[0-9A-Za-z]+)*)+$")
_GFORTRAN = re.compile(r"__(\w+?)_MOD_(\w+)$")
_INTEL = re.compile(r"([a-z]\w*?)_mp_(\w+)_$")
_FLANG = re.compile(r"_Q(?:[MSFP][a-z0-9_]+)+$")


@functools.cache
def _runtime():
    """The C++ runtime's demangler and free(), or None."""
    for name in ("libstdc++.so.6", "libc++abi.so.1"):
        try:
            demangle = ctypes.CDLL(name)["__cxa_demangle"]
            free = ctypes.CDLL(None)["free"]
        except (OSError, AttributeError):
            continue
        demangle.restype = ctypes.c_void_p
        demangle.argtypes = [ctypes.c_char_p, ctypes.c_void_p,
                             ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]
        free.argtypes = [ctypes.c_void_p]
        free.restype = None
        return demangle, free
    return None


def _cxx(name):
    if not _runtime():
        return name
    demangle, free = _runtime()
    status = ctypes.c_int()
    text = demangle(name.encode(), None, None, ctypes.byref(status))
    if not text:
        return name
    try:
        return ctypes.string_at(text).decode(errors="replace")
    finally:
        free(text)


def readable(name, file=None):
    """The name of a function as in its source. `file` identifies Fortran,
    whose procedures outside of modules end in an underscore."""
    name = _COPY.sub("", name.partition("@")[0])    # @: a symbol's version
    if name.startswith("_Z"):
        return _cxx(name)
    for style in (_GFORTRAN, _INTEL):
        if style.match(name):
            return "::".join(style.match(name).groups())
    if _FLANG.match(name):
        return "::".join(re.findall("[MSFP]([a-z0-9_]+)", name[2:]))
    suffix = pathlib.PurePath(file or "").suffix.lower()
    if suffix in _FORTRAN and name[:1].islower():
        return name.rstrip("_")
    return name
