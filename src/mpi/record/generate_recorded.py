"""The recorded wrappers of a flavour, from its <mpi.h>; see event.h.

Usage: generate_recorded.py OUTPUT PROCEDURES.INC COMPILER [FLAG...]
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "calls")]

import rules  # noqa: E402
from wrappers import generate, indented  # noqa: E402


def wrapper(procedure, header):
    if rules.LEFT_OUT.match(procedure.name):
        return None
    rule = {"hand": {}, **rules.of(procedure)}

    def piece(name, columns):
        return indented(procedure.filled(rule.get(name, "")), columns)

    hand = {procedure.filled(name): own for name, own in rule["hand"].items()}
    handed = ", ".join(hand.get(name, name) for name in procedure.names)
    first = f"SW_EVENT({procedure.name});"
    if rules.PASSES.match(procedure.name):
        first = ("if (sw_event_passes())\n    "
                 f"return served.{procedure.name}({procedure.passed});\n"
                 f"{first}")
    text = procedure.opening("recorded", first, "sw_event_begin(&e, &sw_from)",
                             rule.get("nested", ""))
    text += piece("local", 4) + piece("before", 4)
    text += "    sw_event_clock(&e);\n"
    text += f"    int sw_result = served.{procedure.name}({handed});\n"
    text += "    sw_event_stop(&e, sw_result);\n"
    if "after" in rule:
        text += "    if (sw_likely(sw_result == MPI_SUCCESS)) {\n"
        text += piece("after", 8) + "    }"
        if "failed" in rule:
            text += " else {\n" + piece("failed", 8) + "    }"
        text += "\n"
    return text + "    sw_event_end(&e);\n    return sw_result;\n}\n"


if __name__ == "__main__":
    generate("recorded", '#include "mpi/record/traffic.h"\n', wrapper,
             *sys.argv[1:])
