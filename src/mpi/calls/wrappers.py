"""What the generators of entries, of recorded and of virtual wrappers have in
common.

A rule is a dictionary of C texts, in which

    $name     is a parameter, as the MPI standard names it
    @args@    stands for all of them, as they are
    @name@    is the procedure's name, in lower case with @lower@, and @c@ is
              "_c" for the large-count form (else nothing)
"""
import os
import re
import sys
import textwrap

import pympistandard as std

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir, "base"))

from generate import STILL  # noqa: F401 (for generate_entries.py)
from generate import indented, names_of, parameter_name, read_header


def standard_names():
    """{procedure without MPI_: names of its parameters in the standard}"""
    std.use_api_version(1)
    forms = [form for procedure in std.PROCEDURES.values()
             for form in (procedure.express.iso_c, procedure.express.embiggen
                          and procedure.express.embiggen.iso_c) if form]
    return {form.name[len("MPI_"):]: [p.name for p in form.parameters]
            for form in forms}


def amount(it):
    """The count and the type of a Part."""
    return f"(int64_t){it.count}, {it.type}"


def truth(value):
    return "true" if value else "false"


def own_status(needed="", first=""):
    """The pieces of a rule with a status of our own, where the program wants
    none and this condition holds. `first`: what is done with it before."""
    needed = f" &&\n    {needed}" if needed else ""
    return {"local": f"MPI_Status own;\n{first}"
                     f"MPI_Status *its = $status == MPI_STATUS_IGNORE{needed}\n"
                     "    ? &own : $status;",
            "hand": {"$status": "its"}}


def renamed(parameter, to):
    """A parameter's declaration, with this name."""
    name = parameter_name(parameter)
    return re.sub(rf"\b{name}\b(?!.*\b{name}\b)", to, parameter)


def listed(before, items, column=0):
    """C: before(items), from this column on, in lines of at most 79."""
    indent = " " * (column + len(before) + 1)
    whole = ", ".join(item.replace(" ", "\0") for item in items) + ")"
    lines = textwrap.wrap(whole, 78, break_on_hyphens=False,
                          initial_indent=indent, subsequent_indent=indent)
    return f"{before}(" + "\n".join(lines)[len(indent):].replace("\0", " ")


class Families(dict):
    """Rules by family: a rule, or a function that makes it of a row."""

    def rule(self, *families):
        """The function that follows makes the rules of these."""
        def keep(function):
            self.update(dict.fromkeys(families, function))
            return function
        return keep

    def of(self, call):
        """The rule of a row of the table; None: there is none."""
        made = self.get(call.does) if call else None
        return made(call) if callable(made) else made


class Procedure:
    """One that returns an error class, as this <mpi.h> declares it. Its
    parameters have the standard's names, unless the header has others than the
    standard."""

    def __init__(self, name, parameters, standard):
        self.name = name
        if len(standard) == len(parameters):
            parameters = [renamed(parameter, to)
                          for parameter, to in zip(parameters, standard)]
        self.parameters = parameters
        self.names, self.declared = names_of(parameters)
        self.passed = ", ".join(self.names)
        self.of_standard = (dict(zip(standard, self.names))
                            if len(standard) == len(self.names) else {})

    def filled(self, text):
        """A rule's text for this procedure."""
        text = text.replace("@c@", "_c" if self.name.endswith("_c") else "")
        text = text.replace("@args@", self.passed)
        text = text.replace("@name@", self.name)
        text = text.replace("@lower@", self.name.lower())
        return re.sub(r"\$(\w+)", lambda m: self.of_standard[m.group(1)], text)

    def function(self, body, ended=""):
        """The C of its entry: what serves it, then the host. `ended`: the
        beginning of a call that is told the host's result, and returns it."""
        before = f"    return {ended}"
        return self.whole(body + before + listed(
            f"host.{self.name}", self.names, len(before))
            + f"{ended and ')'};\n")

    def whole(self, body):
        """The C of a function with this body."""
        return (listed(f"int sw_MPI_{self.name}", self.parameters or ["void"])
                + f"\n{{\n{body}}}\n")

    def by_type(self, kind):
        """The name of the parameter of this type, passed by value."""
        for parameter, name in zip(self.parameters, self.names):
            if parameter == f"{kind} {name}":
                return name
        return None

    def opening(self, kind, first, followed, not_ours="", below="served"):
        """C up to where the wrapper follows the call. `not_ours`: what it does
        before one that it does not follow; `below` serves that one."""
        begins = f"if (!{followed})" + (" {" if not_ours else "")
        return (f"{kind.upper()} int sw_{kind}_MPI_{self.name}"
                f"({self.declared})\n{{\n" + indented(f"{first}\n{begins}", 4)
                + indented(self.filled(not_ours), 8)
                + f"        return {below}.{self.name}({self.passed});\n"
                + ("    }\n" if not_ours else ""))


def procedures(header, standard):
    """{name: Procedure} of those that return an error class"""
    return {name: Procedure(name, parameters, standard[name])
            for name, (result, parameters) in sorted(header.prototypes.items())
            if result == "int" and names_of(parameters)}


def generate(kind, head, wrapper, output, names, *compiler):
    """Write the wrappers that `wrapper` makes of Procedures and the header.
    `names`: the file of all procedures' names."""
    header, standard = read_header(names, compiler), standard_names()
    with open(output, "w") as file:
        file.write(f"/* Generated by generate_{kind}.py: do not edit. */\n"
                   f"{head}\n#define {kind.upper()} "
                   '__attribute__((weak, visibility("hidden")))\n')
        for procedure in procedures(header, standard).values():
            made = wrapper(procedure, header)
            if made:
                file.write("\n" + made)


def data(it):
    """A Part of a collective, as a sw_moves_data_t (moves.h)."""
    kind = ("SW_MOVES_EACH" if it.types else "SW_MOVES_LIST" if it.counts
            else "SW_MOVES_DATA")
    return f"{kind}({it.count}, {it.type})"


def moved(call, members):
    """A sw_moved_t: what a collective moves among these `members`."""
    arguments = [members]
    if call.rooted:
        arguments.append("$root")
    if call.in_place:
        arguments.append(f"{call.in_place} == MPI_IN_PLACE")
    arguments += [data(p) for p in (call.sends, call.receives) if p]
    return f"sw_moves_{call.moves}({', '.join(arguments)})"
