"""Names of addresses: right or absent, whatever the module is like.

Programs print where their calls are, as the capture does; each is asked of
every way to find names: LLVM's addr2line, GNU's, and Python.
"""

import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys

import pytest
from elftools.elf.elffile import ELFFile
from harness import patience, spread

from straightway import symbols
from straightway.symbols import elf, names, tools

MARK = r"""
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <unistd.h>

static int look(struct dl_phdr_info *info, size_t size, void *data)
{
    ElfW(Addr) pc = (ElfW(Addr))data;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        ElfW(Addr) start = info->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD || pc < start
            || pc >= start + part->p_memsz)
            continue;
        char self[4096] = "";
        if (!*info->dlpi_name
            && readlink("/proc/self/exe", self, sizeof self - 1) < 0)
            return 1;
        printf("%s %lu\n", *self ? self : info->dlpi_name,
               (unsigned long)(pc - info->dlpi_addr));
        return 1;
    }
    return size == 0;
}

void mark(void)
{
    dl_iterate_phdr(look, (char *)__builtin_return_address(0) - 1);
}

void mark_(void)
{
    dl_iterate_phdr(look, (char *)__builtin_return_address(0) - 1);
}
"""

C = r"""
void mark(void);
volatile int sink;

static inline __attribute__((always_inline)) void pack(int n)
{
    sink += n;
    mark();                             /* in pack */
    sink += n;
}

__attribute__((noinline)) void exchange(int n)
{
    sink += n;
    mark();                             /* in exchange */
    sink -= n;
    pack(n);
    sink -= n;
}

static __attribute__((noinline)) void hidden(int n)
{
    sink += n;
    mark();                             /* in hidden */
    sink -= n;
}

int main(int argc, char **argv)
{
    exchange(argc);
    hidden(argc);
    return 0;
}
"""

CXX = r"""
extern "C" void mark(void);
volatile int sink;

namespace halo {
template <class T> struct Grid {
    __attribute__((noinline)) void exchange(T n)
    {
        sink = sink + 1;
        mark();                         // in exchange
        sink = sink + int(n);
    }
};
}

namespace {
__attribute__((noinline)) void hidden(int)
{
    sink = sink + 1;
    mark();                             // in hidden
    sink = sink + 1;
}
}

int main(int argc, char **)
{
    halo::Grid<double>().exchange(argc);
    hidden(argc);
}
"""

FORTRAN = """
module halo
contains
  subroutine exchange(n)
    integer, intent(inout) :: n
    call mark()                         ! in exchange
    n = n + 1
  end subroutine
end module

subroutine outside(n)
  integer, intent(inout) :: n
  call mark()                           ! in outside
  n = n + 1
end subroutine

program heat
  use halo
  integer :: n
  n = 1
  call exchange(n)
  call outside(n)
  call inner()
  if (n < 0) stop 1
contains
  subroutine inner()
    call mark()                         ! in inner
    n = n + 1
  end subroutine
end program
"""

ENDINGS = {"gcc": ".c", "clang": ".c", "g++": ".cpp", "clang++": ".cpp",
           "gfortran": ".f90"}
WAYS = ("llvm-symbolizer", "python", "addr2line")


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    """Only one way to find lines is there."""
    if request.param == "python":
        only = symbols.dwarf.lines
    else:
        need(request.param)
        only = tools.gnu() if request.param == "addr2line" else tools.llvm()
    monkeypatch.setattr(symbols, "_ways", lambda: [(only, 1)])
    return request.param


@pytest.fixture(scope="module")
def mark(tmp_path_factory):
    need("gcc")
    folder = tmp_path_factory.mktemp("mark")
    (folder / "mark.c").write_text(MARK)
    subprocess.run(["gcc", "-O1", "-fPIC", "-c", "mark.c"], cwd=folder,
                   check=True)
    return folder / "mark.o"


def build(folder, compiler, text, mark, *flags, name="app"):
    """Compile a program of one source beside it."""
    need(compiler)
    source = folder / f"{name}{ENDINGS[compiler]}"
    source.write_text(text)
    subprocess.run([compiler, *flags, source.name, str(mark), "-o", name],
                   cwd=folder, check=True)
    return folder / name


def build_id(path):
    with open(path, "rb") as file:
        return elf.build_id(ELFFile(file))


def marks(program, *argv):
    """The frames that a program prints."""
    out = patience.run([program, *argv], check=True, text=True,
                       stdout=subprocess.PIPE, timeout=20).stdout
    rows = [line.rsplit(" ", 1) for line in out.splitlines()]
    assert rows
    return [(path, build_id(path), int(offset)) for path, offset in rows]


def line_of(source, function):
    """Where a source says that it is in a function."""
    lines = source.read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1)
                if f"in {function}" in line)


def check(found, source, *functions):
    """The names are these functions' marks."""
    assert [f.get("function") for f in found] == list(functions)
    for place in found:
        short = re.search(r"(\w+)(\(\w+\))?$", place["function"]).group(1)
        assert place["file"] == str(source)
        assert place["line"] == line_of(source, short)


IN_C = ("exchange", "pack", "hidden")
# In DWARF only; Python's decoder reads what the tools read.
DIALECTS = [("-gdwarf-4",), ("-gdwarf-5",), ("-g", "-gz"), ("-g", "-no-pie"),
            ("-g", "-O2"), ("-g", "-O2", "-flto"), ("-g3", "-O1"),
            ("-g", "-ffunction-sections", "-Wl,--gc-sections"),
            ("-g", "-Wl,--build-id=none")]


# Languages and compilers ------------------------------------------------

@pytest.mark.parametrize("flags", spread.some(map(list, DIALECTS)),
                         ids=" ".join)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_c(way, compiler, flags, mark, tmp_path):
    if "-flto" in flags and (compiler == "clang" or way == "addr2line"):
        pytest.skip("needs a linker with clang's plugin" if compiler ==
                    "clang" else "addr2line may call the file <artificial>")
    app = build(tmp_path, compiler, C, mark, *flags)
    check(symbols.resolve(marks(app)), tmp_path / "app.c", *IN_C)


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_cxx(way, compiler, level, mark, tmp_path):
    app = build(tmp_path, compiler, CXX, mark, "-g", level)
    check(symbols.resolve(marks(app)), tmp_path / "app.cpp",
          "halo::Grid<double>::exchange(double)",
          "(anonymous namespace)::hidden(int)")


@pytest.mark.parametrize("level", ["-O0", "-O1"])
def test_fortran(way, level, mark, tmp_path):
    app = build(tmp_path, "gfortran", FORTRAN, mark, "-g", level,
                "-fno-inline")
    check(symbols.resolve(marks(app)), tmp_path / "app.f90",
          "halo::exchange", "outside", "inner")


def test_shared_object(way, mark, tmp_path, monkeypatch):
    need("gcc")
    source = tmp_path / "part.c"
    source.write_text(C.replace("int main", "int part"))
    subprocess.run(["gcc", "-g", "-O1", "-shared", "-fPIC", "part.c",
                    "-o", "libpart.so"], cwd=tmp_path, check=True)
    app = build(tmp_path, "gcc", "int part(int, char **);\nvoid mark(void);"
                "int main(void) { mark(); return part(1, 0); }\n", mark,
                "-g", "-rdynamic", "-Wl,--no-as-needed", "./libpart.so")
    monkeypatch.chdir(tmp_path)
    frames = marks(app)
    assert len({path for path, _, _ in frames}) == 2
    first, *rest = symbols.resolve(frames)
    assert first["function"] == "main"
    check(rest, source, *IN_C)


# Debug information elsewhere --------------------------------------------

def split(app, link=True):
    """Move the debug information of a program to PROGRAM.debug."""
    need("objcopy", "strip")
    debug = app.with_name(app.name + ".debug")
    subprocess.run(["objcopy", "--only-keep-debug", app, debug], check=True)
    subprocess.run(["strip", app], check=True)
    if link:
        subprocess.run(["objcopy", f"--add-gnu-debuglink={debug.name}",
                        app.name], cwd=app.parent, check=True)
    return debug


@pytest.mark.parametrize("where", ["beside", ".debug", "folder"])
def test_debug_link(way, where, mark, tmp_path):
    app = build(tmp_path, "gcc", C, mark, "-g", "-Wl,--build-id=none")
    debug = split(app)
    folder = tmp_path / "debug-files"
    place = {"beside": tmp_path, ".debug": tmp_path / ".debug",
             "folder": pathlib.Path(f"{folder}{tmp_path}")}[where]
    place.mkdir(parents=True, exist_ok=True)
    debug.rename(place / debug.name)
    found = symbols.resolve(marks(app), debug_folders=[str(folder)])
    check(found, tmp_path / "app.c", *IN_C)


def test_a_debug_file_of_another_build_is_not_used(mark, tmp_path):
    app = build(tmp_path, "gcc", C, mark, "-g")
    debug = split(app)
    with open(debug, "ab") as file:
        file.write(b"\0")
    assert symbols.resolve(marks(app)) == [{}, {}, {}]


def by_id(folder, debug, of):
    name = build_id(of)
    place = folder / ".build-id" / name[:2]
    place.mkdir(parents=True)
    debug.rename(place / (name[2:] + ".debug"))


def test_debug_file_by_build_id(way, mark, tmp_path):
    app = build(tmp_path, "gcc", C, mark, "-g")
    debug = split(app, link=False)
    by_id(tmp_path / "d", debug, app)
    found = symbols.resolve(marks(app), debug_folders=[str(tmp_path / "d")])
    check(found, tmp_path / "app.c", *IN_C)


# Less than that ---------------------------------------------------------

def test_no_debug_information(mark, tmp_path):
    app = build(tmp_path, "gcc", C, mark, "-O1")
    assert symbols.resolve(marks(app)) == [
        {"function": "exchange"}, {"function": "exchange"},
        {"function": "hidden"}]


def test_names_without_debug_information_are_readable(mark, tmp_path):
    app = build(tmp_path, "g++", CXX, mark, "-O1")
    assert [f["function"] for f in symbols.resolve(marks(app))] == [
        "halo::Grid<double>::exchange(double)",
        "(anonymous namespace)::hidden(int)"]


def test_stripped_what_is_exported_has_a_name(mark, tmp_path):
    need("strip")
    app = build(tmp_path, "gcc", C, mark, "-O1", "-rdynamic")
    subprocess.run(["strip", app], check=True)
    # hidden lies behind an exported function, and must not get its name
    assert symbols.resolve(marks(app)) == [
        {"function": "exchange"}, {"function": "exchange"}, {}]


def test_a_file_replaced_since_the_run_names_nothing(way, mark, tmp_path):
    app = build(tmp_path, "gcc", C, mark, "-g")
    frames = marks(app)
    shutil.copy(app, tmp_path / "kept")
    build(tmp_path, "gcc", "\n\n" + C, mark, "-g")
    assert symbols.resolve(frames) == [{}, {}, {}]
    # its debug information may still be there
    by_id(tmp_path / "d", tmp_path / "kept", tmp_path / "kept")
    found = symbols.resolve(frames, debug_folders=[str(tmp_path / "d")])
    assert [f["function"] for f in found] == list(IN_C)
    assert found[0]["line"] == line_of(tmp_path / "app.c", "exchange") - 2


def test_a_run_without_build_id_takes_the_file_as_it_is(mark, tmp_path):
    app = build(tmp_path, "gcc", C, mark, "-g")
    frames = [(path, "", offset) for path, _, offset in marks(app)]
    check(symbols.resolve(frames), tmp_path / "app.c", *IN_C)


def test_what_is_no_module_has_no_names(mark, tmp_path):
    app = build(tmp_path, "gcc", C, mark, "-g")
    whole = app.read_bytes()
    (tmp_path / "text").write_text("hello\n")
    (tmp_path / "empty").write_bytes(b"")
    paths = [str(tmp_path / name) for name in ("text", "empty", "absent")]
    for part in (20, 64, 400, 4096, len(whole) // 2, len(whole) - 100):
        paths.append(str(tmp_path / f"cut{part}"))
        pathlib.Path(paths[-1]).write_bytes(whole[:part])
    os.mkfifo(tmp_path / "pipe")
    paths += [str(tmp_path), str(tmp_path / "pipe"), "/dev/zero", "[vdso]", "",
              f"{app} (deleted)", "a\0b"]
    frames = [(path, id, offset) for path in paths
              for id in ("", "ab12", "ab/../x")
              for offset in (0, 4711, 1 << 63)]
    found = symbols.resolve(frames)
    assert found == [{}] * len(frames)


def test_damage_never_fails(mark, tmp_path):
    """Bytes changed all over a module: names may go, nothing is raised."""
    app = build(tmp_path, "gcc", C, mark, "-g")
    frames = [(str(tmp_path / "bad"), "", o) for _, _, o in marks(app)]
    whole = app.read_bytes()
    for at in range(0, len(whole), len(whole) // 60):
        spoilt = bytearray(whole)
        spoilt[at:at + 16] = b"\xff" * 16
        (tmp_path / "bad").write_bytes(spoilt)
        assert len(symbols.resolve(frames, patience=10)) == 3


def test_addresses_outside_of_functions_have_no_names(way, mark, tmp_path):
    app = build(tmp_path, "gcc", C, mark, "-g")
    path, id, _ = marks(app)[0]
    outside = [(path, id, offset) for offset in (0, 1, 1 << 40, 1 << 64)]
    assert symbols.resolve(outside) == [{}] * 4


def test_order_and_repetition_are_kept(mark, tmp_path):
    app = build(tmp_path, "gcc", C, mark, "-g")
    frames = marks(app)
    gone = ("/nowhere", "", 1)
    found = symbols.resolve([frames[2], gone, frames[0], frames[2]])
    assert [f.get("function") for f in found] == ["hidden", None, "exchange",
                                                  "hidden"]
    assert symbols.resolve([]) == []


# Tools ------------------------------------------------------------------

@pytest.mark.parametrize("text", [
    "exit 1", "echo 0x12; echo f", "printf '\\377\\n0xzz\\nf\\na:1\\n'",
    "kill -SEGV $$"], ids=["fails", "short", "garbage", "crashes"])
def test_a_bad_tool_leaves_it_to_python(text, mark, tmp_path, monkeypatch):
    app = build(tmp_path, "gcc", C, mark, "-g")
    frames = marks(app)
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("addr2line", "llvm-symbolizer"):
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    check(symbols.resolve(frames), tmp_path / "app.c", *IN_C)


def test_a_tool_that_hangs_costs_a_bounded_time(mark, tmp_path, monkeypatch):
    app = build(tmp_path, "gcc", C, mark, "-g")
    frames = marks(app)
    folder = tmp_path / "bin"
    folder.mkdir()
    tool = folder / "llvm-symbolizer"
    tool.write_text(f"#!{sys.executable}\nimport time; time.sleep(600)\n")
    tool.chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", str(folder))
    assert [f["function"] for f in symbols.resolve(frames, patience=2)] == [
        "exchange", "exchange", "hidden"]


def test_python_walks_what_there_is_time_for(mark, tmp_path):
    app = build(tmp_path, "gcc", C, mark, "-g")
    offsets = [offset for _, _, offset in marks(app)]
    assert len(symbols.dwarf.lines(str(app), offsets, 60)) == 3
    assert symbols.dwarf.lines(str(app), offsets, -1) == {}


# Names ------------------------------------------------------------------

@pytest.mark.parametrize("name, file, readable", [
    ("exchange", "a.c", "exchange"),
    ("exchange_", "a.c", "exchange_"),
    ("exchange_", "a.F90", "exchange"),
    ("exchange.constprop.0.isra.1", "", "exchange"),
    ("exchange.cold", "", "exchange"),
    ("solve._omp_fn.0", "", "solve"),
    ("solve.omp_outlined", "", "solve"),
    ("__halo_MOD_exchange", "", "halo::exchange"),
    ("__halo_MOD_exchange.part.0", "", "halo::exchange"),
    ("__my_halo_MOD_my_exchange", "", "my_halo::my_exchange"),
    ("halo_mp_exchange_", "", "halo::exchange"),
    ("_QMhaloPexchange", "", "halo::exchange"),
    ("_QMhaloFsolvePinner", "", "halo::solve::inner"),
    ("MAIN__", "a.f90", "MAIN__"),
    ("main", "a.c", "main"),
    ("_ZN4halo8exchangeEi", "a.cpp", "halo::exchange(int)"),
    ("_Znonsense", "a.cpp", "_Znonsense"),
    ("a.b", "a.c", "a.b"),
    ("memcpy@GLIBC_2.14", "a.c", "memcpy"),
    ("inner.0", "a.f90", "inner"),
])
def test_names_are_readable(name, file, readable):
    if name.startswith("_ZN") and not names._runtime():
        pytest.skip("there is no C++ runtime")
    assert names.readable(name, file) == readable
