"""What a flavour's own <mpi.h> declares, as source for the room src/mpi.

Usage: generate.py DIRECTORY PROCEDURES.INC COMPILER [FLAG...]

Reads <mpi.h> through the compiler's preprocessor and writes into DIRECTORY

  host.inc    SW_HOST_PROC(Name) for each procedure of the standard that the
              header declares as PMPI_Name
  has.h       #define SW_HAS_Name 1, likewise, for #ifdef; SW_CONST_Name for
              the procedures of VARYING: `const`, or nothing
  weak.h      #pragma weak for each data object and callback that the header
              declares: an older host of the same flavour may lack it, and
              the flavour library must load all the same
  guard.c     sw_MPI_Name for the setup procedures (see guard.h), weak, so
              that one written by hand takes its place
"""
import os
import re
import subprocess
import sys

# Procedures in which hosts call MPI again, and which no program calls in its
# innermost loop.
SETUP = re.compile(r"""(
    Init | Init_thread | Finalize | Session_init | Session_finalize |
    File_.* |
    Win_(create|create_dynamic|allocate|allocate_shared|free)(_c)? |
    Comm_(accept|connect|create.*|disconnect|dup.*|free|idup.*|join|
          spawn.*|split.*) |
    Intercomm_(create.*|merge) |
    Cart_(create|map|sub) | Graph_(create|map) | Dist_graph_create.* |
    Type_(contiguous|vector|indexed|create_.*|dup|commit|free)(_c)?
)$""", re.X)
LOCAL = re.compile("Type_.*")       # of these: they wait for no other rank
# Those that read or write a file, or call a program's attribute callbacks.
STILL = re.compile(r"File_i?(read|write|preallocate|sync|delete)|Comm_i?dup")
# Headers differ in the `const` of these procedures' arrays, and no entry is
# generated for them.
VARYING = ("Pready_list",)
NOT_SETUP = re.compile(r".*(_keyval|_errhandler|_c2f|_f2c|_toint|_fromint)$")


def statements(text):
    """The header's declarations, each on one line, attributes removed."""
    text = re.sub(r"\s+", " ", text)
    while True:
        plain = re.sub(
            r"__attribute__ ?\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)",
            " ", text)
        if plain == text:
            break
        text = plain
    return (statement.strip() for statement in re.split(r"[;{}]", text))


def split_arguments(text):
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return parts + [text[start:].strip()]


def names_of(parameters):
    """(names, text of the declaration) of a procedure's parameters; None
    where one has no name, or there may be any number."""
    if parameters == ["void"]:
        return [], "void"
    names = [parameter_name(p) for p in parameters]
    if None in names or "..." in parameters:
        return None
    return names, ", ".join(parameters)


def indented(text, by):
    """C, each line `by` columns further, without empty ones."""
    return "".join(" " * by + line + "\n" for line in text.split("\n")
                   if line)


def parameter_name(text):
    """The declared name, or None where the header gives only a type."""
    bare = re.sub(r"\[[^\]]*\]", "", text).strip()
    pointer = re.search(r"\(\*+ ?(\w+)\)", bare)
    if pointer:
        return pointer.group(1)
    words = re.findall(r"\w+|\*", bare)
    words = [w for w in words if w not in ("const", "struct", "unsigned")]
    if len(words) < 2 or not re.match(r"[A-Za-z_]\w*$", words[-1]):
        return None
    return words[-1]


class Header:
    def __init__(self, text, standard):
        self.prototypes = {}            # Name -> (result, [parameter])
        self.weak = set()
        for statement in statements(text):
            if statement.startswith("typedef"):
                continue
            function = re.match(r"(.*?)\b(\w+) ?\((.*)\)$", statement)
            if function and "(" not in function.group(1):
                self.function(*function.groups(), standard)
            elif re.search(r"\bextern\b", statement):
                name = re.sub(r"\[.*", "", statement).split()[-1].lstrip("*")
                if "mpi" in name.lower():
                    self.weak.add(name)

    def function(self, result, name, parameters, standard):
        if name.startswith("PMPI_"):
            result = re.sub(r"\bextern\b", "", result).strip()
            if name[len("PMPI_"):] in standard:
                self.prototypes.setdefault(
                    name[len("PMPI_"):],
                    (result, split_arguments(parameters)))
        elif re.match(r"OMPI_C_|MPIR_|MPII_|MPI_[A-Z][A-Z]", name):
            self.weak.add(name)


def guard(name, result, parameters):
    known = names_of(parameters)
    if not known:
        return None
    names, declared = known
    passed = ", ".join(names)
    kind = ("_LOCAL" if LOCAL.match(name) else "_STILL" if STILL.match(name)
            else "")
    return (f"SW_GUARD {result} sw_MPI_{name}({declared})\n{{\n"
            f"    SW_INSIDE{kind};\n"
            f"    return host.{name}({passed});\n}}\n")


def const(name, parameters):
    """The line of has.h for a procedure of VARYING."""
    said = any(parameter.startswith("const ") for parameter in parameters)
    return f"#define SW_CONST_{name} {'const' if said else ''}\n"


def write(path, text):
    with open(path, "w") as file:
        file.write("/* Generated by generate.py: do not edit. */\n" + text)


def read_header(procedures, compiler):
    """The Header that this compiler and its flags find."""
    with open(procedures) as file:
        standard = set(re.findall(r"SW_PROC\(\d+, (\w+)\)", file.read()))
    text = subprocess.run(
        [*compiler, "-E", "-P", "-x", "c", "-"], input="#include <mpi.h>\n",
        stdout=subprocess.PIPE, check=True, text=True).stdout
    return Header(text, standard)


def main(directory, procedures, *compiler):
    header = read_header(procedures, compiler)
    if "Bcast" not in header.prototypes:
        sys.exit("generate.py: this mpi.h declares no PMPI_ procedures")
    names = sorted(header.prototypes)
    write(os.path.join(directory, "host.inc"),
          "".join(f"SW_HOST_PROC({name})\n" for name in names))
    write(os.path.join(directory, "has.h"),
          "".join(f"#define SW_HAS_{name} 1\n" for name in names)
          + "".join(const(name, header.prototypes[name][1])
                    for name in VARYING if name in header.prototypes))
    write(os.path.join(directory, "weak.h"),
          "".join(f"#pragma weak {name}\n" for name in sorted(header.weak)))
    guards = [guard(name, *header.prototypes[name]) for name in names
              if SETUP.match(name) and not NOT_SETUP.match(name)]
    write(os.path.join(directory, "guard.c"),
          '#include "mpi/base/guard.h"\n#include "mpi/base/host.h"\n\n'
          + "\n".join(filter(None, guards)))


if __name__ == "__main__":
    main(*sys.argv[1:])
