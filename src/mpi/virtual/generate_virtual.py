"""The wrappers of a flavour in virtual time, from its <mpi.h>; see virtual.h.

Usage: generate_virtual.py OUTPUT PROCEDURES.INC COMPILER [FLAG...]
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "calls"),
                os.path.join(HERE, os.pardir, "base")]

import rules  # noqa: E402
from generate import NOT_SETUP, SETUP  # noqa: E402
from wrappers import generate, indented  # noqa: E402


def through(procedure):
    """Of one that calls others of MPI inside: they count as computing."""
    name = procedure.name
    if not SETUP.match(name) or NOT_SETUP.match(name):
        return None
    return (f"VIRTUAL int sw_virtual_MPI_{name}({procedure.declared})\n{{\n"
            "    SW_VIRTUAL_THROUGH;\n"
            f"    return served.{name}({procedure.passed});\n}}\n")


def wrapper(procedure, header):
    rule = rules.of(procedure)
    if not rule:
        return through(procedure)
    body = procedure.filled(rule)
    if set(re.findall(r"served\.(\w+)", body)) - set(header.prototypes):
        return None
    return (procedure.opening("virtual", "SW_VIRTUAL;",
                              "sw_virtual_begin(&v, &sw_from)")
            + "    int sw_result;\n" + indented(body, 4)
            + "    return sw_result;\n}\n")


if __name__ == "__main__":
    generate("virtual", '#include "mpi/virtual/virtual.h"\n', wrapper,
             *sys.argv[1:])
