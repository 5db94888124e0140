"""The watched wrappers of a flavour, from its <mpi.h>; see watched.h.

Usage: generate_watched.py OUTPUT PROCEDURES.INC COMPILER [FLAG...]
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "calls")]

import rules  # noqa: E402
from wrappers import generate, indented, listed  # noqa: E402


def wrapper(procedure, header):
    rule = rules.of(procedure)
    if rule is None:
        return None

    def piece(name, columns=4):
        return indented(procedure.filled(rule.get(name, "")), columns)

    hand = {procedure.filled(name): own
            for name, own in rule.get("hand", {}).items()}
    handed = [hand.get(name, name) for name in procedure.names]
    text = procedure.opening(
        "watched", f"SW_WATCHED({procedure.name});",
        "sw_watched_begin(&w, &sw_from, sw_procedure)", below="below")
    waits = "true" if rule.get("waits") else "false"
    text += piece("local") + piece("before")
    text += f"    sw_watched_goes(&w, {waits});\n"
    text += "    int sw_result = " + listed(
        f"below.{procedure.name}", handed, 20) + ";\n"
    if "after" in rule:
        text += ("    if (sw_likely(sw_result == MPI_SUCCESS)) {\n"
                 + piece("after", 8) + "    }")
        if "failed" in rule:
            text += " else {\n" + piece("failed", 8) + "    }"
        text += "\n"
    return text + piece("end") + "    return sw_result;\n}\n"


if __name__ == "__main__":
    generate("watched", '#include "mpi/watch/watched.h"\n', wrapper,
             *sys.argv[1:])
