"""The front door: what a program sees of its MPI with us preloaded.

Each test runs a small program from tests/front/ under a host, or with an MPI
made up for the purpose. It compares that run with one without us.
"""

import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

import pytest
from harness import patience, spread

HERE = pathlib.Path(__file__).parent


@pytest.fixture(scope="session")
def library():
    """The preloaded library, where `straightway run` takes it from."""
    given = os.environ.get("STRAIGHTWAY_LIB")
    if given:
        return pathlib.Path(given)
    from harness import hosts
    path = hosts.COMMAND.parent.parent / "lib/straightway/libstraightway.so"
    assert path.exists(), f"{path} is missing"
    return path


def preloaded(libraries, argv):
    """argv as a command that starts with these libraries preloaded."""
    return ["env", "LD_PRELOAD=" + ":".join(map(str, libraries)), *argv]


def shared(folder, name, source, *flags):
    path = folder / name
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", path, source,
                    f"-Wl,-soname,{name}", *flags], check=True)
    return path


def run(argv, **settings):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith("STRAIGHTWAY_") and k != "LD_PRELOAD"}
    env.update(settings)
    return patience.run(list(map(str, argv)), env=env, text=True,
                        capture_output=True, timeout=60)


# Under every host -----------------------------------------------------------

@pytest.mark.parametrize("now", ["", "1"])
def test_a_program_sees_the_same_mpi(host, library, now):
    program = host.compile(HERE / "basic.c", "-ldl")
    env = {"LD_BIND_NOW": now}
    alone = host.run(2, [program], straightway=False, env=env, check=True)
    with_us = host.run(2, preloaded([library], [program]), straightway=False,
                       env={**env, "STRAIGHTWAY_VERBOSE": "1"}, check=True)
    assert "sum 2 of 2, clock forward" in alone.stdout
    assert with_us.stdout == alone.stdout
    assert f"flavour {host.flavour}," in with_us.stderr
    assert "IFUNC" not in with_us.stderr


@pytest.mark.parametrize("only", [True, False])
def test_only_this_program_hands_nothing_on(host, library, only):
    """What it starts after its first MPI call has neither our library nor our
    settings. These hold to the program's end."""
    program = host.compile(HERE / "heirs.c")
    options = ["--stats", *(["--only-this-program"] if only else [])]
    done = host.run(1, [program], run_args=options, check=True)
    told = dict(re.findall(r"^(\w+): LD_PRELOAD=(.*)$", done.stdout, re.M))
    assert str(library) in told["before"]
    for when in "within", "after":
        if only:
            assert told[when] == ", 0 settings"
        else:
            assert str(library) in told[when]
            assert " 0 settings" not in told[when]
    assert "straightway: Allreduce" in done.stderr


def test_switched_off_forwards_everything(host, library):
    program = host.compile(HERE / "basic.c", "-ldl")
    done = host.run(2, preloaded([library], [program]), straightway=False,
                    env={"STRAIGHTWAY_ENABLE": "off",
                         "STRAIGHTWAY_VERBOSE": "1"}, check=True)
    assert "sum 2 of 2" in done.stdout
    assert "flavour none, 0 procedures" in done.stderr


OLD = {"P2P_MIN": "0", "STREAM_MIN": "0", "ARENA_SIZE": "0", "AGENT": "-1",
       "SPIN_US": "-1", "NODE_SIZE": "0"}


def test_an_old_number_is_understood_and_one_line_says_its_word(host, library):
    program = host.compile(HERE / "basic.c", "-ldl")
    done = host.run(2, preloaded([library], [program]), straightway=False,
                    env={"STRAIGHTWAY_" + k: v for k, v in OLD.items()},
                    check=True)
    assert "not understood" not in done.stderr
    for name, number in OLD.items():
        word = "none" if name == "NODE_SIZE" else "auto"
        assert done.stderr.count(
            f"STRAIGHTWAY_{name}={number} is now written "
            f"STRAIGHTWAY_{name}={word}") == 1


def test_a_word_in_place_of_a_number_is_understood(host, library):
    program = host.compile(HERE / "basic.c", "-ldl")
    words = {k: "none" if k == "NODE_SIZE" else "auto" for k in OLD}
    for given in (words, {"AGENT": "on"}, {"AGENT": "off"}, {"AGENT": "1"}):
        done = host.run(2, preloaded([library], [program]), straightway=False,
                        env={"STRAIGHTWAY_" + k: v for k, v in given.items()},
                        check=True)
        assert "straightway:" not in done.stderr
    done = host.run(2, preloaded([library], [program]), straightway=False,
                    env={"STRAIGHTWAY_AGENT": "perhaps",
                         "STRAIGHTWAY_SPIN_US": "of"}, check=True)
    assert "STRAIGHTWAY_AGENT=perhaps is not understood: give auto, on or " \
        "off" in done.stderr
    assert "give auto, or a whole number" in done.stderr


@pytest.mark.parametrize("order", ["before", "after"])
def test_another_tool_counts_the_same_and_we_serve(host, library, order):
    tool = host.compile(HERE / "tool.c", "-shared", "-fPIC")
    program = host.compile("""
        #include <mpi.h>
        #include <stdio.h>
        int main(int argc, char **argv)
        {
            int in = 1, out = 0;
            MPI_Init(&argc, &argv);
            for (int i = 0; i < 5; i++)
                MPI_Barrier(MPI_COMM_WORLD);
            for (int i = 0; i < 3; i++)
                MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            printf("sum %d\\n", out);
            return MPI_Finalize();
        }
    """)
    libraries = [tool, library] if order == "before" else [library, tool]
    done = host.run(2, preloaded(libraries, [program]), straightway=False,
                    env={"STRAIGHTWAY_VERBOSE": "1"}, check=True)
    assert "tool: 5 barriers, 3 sums" in done.stderr
    assert done.stdout.count("sum 2") == 2
    assert f"flavour {host.flavour}," in done.stderr


def test_a_handle_from_a_private_dlopen_leads_to_us(host, library, tmp_path):
    mpi = host.library or host.libdir / "libmpi.so"
    program = tmp_path / "late"
    subprocess.run(["cc", "-o", program, HERE / "late.c", "-ldl"], check=True)
    done = host.run(1, preloaded([library], [program, mpi]),
                    straightway=False, env={"STRAIGHTWAY_VERBOSE": "1"},
                    check=True)
    assert "initialized 1" in done.stdout
    assert f"flavour {host.flavour}," in done.stderr


@pytest.mark.parametrize("now", ["", "1"])
def test_a_module_opened_late_sees_the_same_mpi(host, library, now, tmp_path):
    mpi = host.library or host.libdir / "libmpi.so"
    module = host.compile(HERE / "module.c", "-shared", "-fPIC")
    program = tmp_path / "late"
    subprocess.run(["cc", "-o", program, HERE / "late.c", "-ldl"], check=True)
    env = {"STRAIGHTWAY_VERBOSE": "1", "LD_BIND_NOW": now}
    alone = host.run(2, [program, mpi, module], straightway=False, env=env,
                     check=True)
    with_us = host.run(2, preloaded([library], [program, mpi, module]),
                       straightway=False, env=env, check=True)
    assert "initialized 1, size 2" in alone.stdout
    assert with_us.stdout == alone.stdout
    assert f"flavour {host.flavour}," in with_us.stderr
    assert "IFUNC" not in with_us.stderr


def test_first_calls_of_many_threads_meet(host, library):
    program = host.compile(HERE / "race.c", "-pthread")
    for _ in range(5):
        done = host.run(1, preloaded([library], [program]),
                        straightway=False, check=True)
        assert "bad 0" in done.stdout


def test_a_missing_flavour_library_is_named(host, library, tmp_path):
    alone = tmp_path / "libstraightway.so"
    alone.write_bytes(library.read_bytes())
    program = host.compile(HERE / "basic.c", "-ldl")
    done = host.run(2, preloaded([alone], [program]), straightway=False,
                    check=True)
    assert "sum 2 of 2" in done.stdout
    assert done.stderr.count("nothing is accelerated") == 1
    assert f"libstraightway-{host.flavour}.so" in done.stderr


def test_a_flavour_library_of_another_version_is_refused(host, library,
                                                         tmp_path):
    front = tmp_path / "libstraightway.so"
    front.write_bytes(library.read_bytes())
    source = tmp_path / "other.c"
    source.write_text("const struct { unsigned version; void *rest[3]; }\n"
                      "    sw_flavour = {99, {0}};\n")
    shared(tmp_path, f"libstraightway-{host.flavour}.so", source)
    program = host.compile(HERE / "basic.c", "-ldl")
    done = host.run(2, preloaded([front], [program]), straightway=False,
                    check=True)
    assert "sum 2 of 2" in done.stdout
    assert done.stderr.count("is of another version of Straightway (its "
                             "contract is 99") == 1


def test_a_job_without_mpi_calls_says_so_once(host, library):
    done = host.run(2, preloaded([library], ["true"]), straightway=False,
                    env={"STRAIGHTWAY_STATS": "1"})
    assert done.stderr.count("made no MPI call") == 1


# Without a host -------------------------------------------------------------

@pytest.fixture
def odd(tmp_path):
    """An MPI of no known make, and a program for any."""
    mpi = shared(tmp_path, "libodd.so", HERE / "odd.c")
    # A library may have undefined symbols; a program that uses it, too.
    user = shared(tmp_path, "libuser.so", HERE / "odd_user.c", "-ldl")
    program = tmp_path / "odd_user"
    subprocess.run(["cc", "-o", program, "-x", "c", "-", "-x", "none", user,
                    f"-Wl,-rpath,{tmp_path}", "-Wl,--allow-shlib-undefined"],
                   input="int work(int, char **);"
                   "int main(int n, char **v) { return work(n, v); }",
                   text=True, check=True)
    return program, mpi


def test_programs_without_mpi_are_left_alone(library):
    for argv in (["bash", "-c", "echo one; (echo two); ls / >/dev/null"],
                 [sys.executable, "-c", "import subprocess as s; "
                  "s.run(['echo', 'two']); print('one')"]):
        alone = run(argv)
        with_us = run(preloaded([library], argv))
        assert (with_us.returncode, with_us.stdout, with_us.stderr) == \
            (alone.returncode, alone.stdout, alone.stderr)


def test_mpi_is_not_seen_where_there_is_none(library, tmp_path):
    for flags in (["-pie", "-fPIE"], ["-no-pie"],
                  ["-pie", "-fPIE", "-Wl,-z,relro,-z,now"]):
        program = tmp_path / "weak_user"
        subprocess.run(["cc", *flags, "-o", program, HERE / "weak_user.c"],
                       check=True)
        done = run(preloaded([library], [program]))
        assert done.stdout == "no MPI\n", flags
    done = run(preloaded([library], [sys.executable, "-c", """if True:
        import ctypes
        program = ctypes.CDLL(None)
        assert not hasattr(program, "MPI_Get_version")
        try:
            program.PMPI_Init
        except AttributeError as error:
            print(error)
    """]))
    assert done.returncode == 0, done.stderr
    assert "undefined symbol: PMPI_Init" in done.stdout


@pytest.mark.parametrize("now", ["", "1"])
def test_a_call_without_mpi_is_named(library, odd, now):
    program, _ = odd
    done = run(preloaded([library], [program, "version"]), LD_BIND_NOW=now)
    assert done.returncode == -6
    assert "MPI_Get_version was called, but no MPI library is loaded" in \
        done.stderr


def test_an_unknown_mpi_is_served_as_it_is(library, odd):
    program, mpi = odd
    done = run(preloaded([library, mpi], [program, "version"]))
    assert done.stdout == "version 7\n"
    assert done.stderr.count("nothing is accelerated") == 1
    assert "binary interface is not known" in done.stderr


@pytest.mark.parametrize("mark", ["odd_mpi_mark_WHO", "ompi_mpi_comm_world"])
def test_the_standard_interface_is_known_by_its_name(library, odd, tmp_path,
                                                     mark):
    """Whichever MPI it is of: Open MPI's has Open MPI's symbols, too."""
    program, _ = odd
    listed = subprocess.run(["nm", "-D", "--defined-only", library], text=True,
                            check=True, stdout=subprocess.PIPE).stdout
    names = set(re.findall(r"\b(P?MPI_[A-Z]\w+)$", listed, re.M))
    names -= {f"{p}MPI_{name}" for p in ("", "P")
              for name in ("Init", "Finalize", "Get_version")}
    rest = tmp_path / "rest.c"      # of the procedures; each succeeds
    rest.write_text("".join(f"int {name}(void) {{ return 0; }}\n"
                            for name in sorted(names)))
    mpi = shared(tmp_path, "libmpi_abi.so.1", HERE / "odd.c", rest,
                 f"-Dodd_mpi_mark_WHO={mark}")
    done = run(preloaded([library, mpi], [program, "version"]),
               STRAIGHTWAY_VERBOSE="1")
    assert done.stdout == "version 7\n", done.stderr
    assert "flavour abi," in done.stderr


def test_a_procedure_that_the_host_lacks_is_named(library, odd):
    program, mpi = odd
    alone = run(preloaded([mpi], [program, "barrier"]))
    done = run(preloaded([library, mpi], [program, "barrier"]))
    assert alone.returncode == done.returncode == 127
    assert "undefined symbol: MPI_Barrier" in done.stderr
    # Bound before anyone could look: the linker would have refused to start
    # the program; it runs until the call.
    done = run(preloaded([library, mpi], [program, "version"]),
               LD_BIND_NOW="1")
    assert done.stdout == "version 7\n"
    done = run(preloaded([library, mpi], [program, "barrier"]),
               LD_BIND_NOW="1")
    assert done.returncode == -6
    assert "MPI_Barrier was called, but" in done.stderr
    assert "does not have it" in done.stderr


def test_of_two_mpis_the_global_one_is_served(library, odd, tmp_path):
    program, one = odd
    two = shared(tmp_path, "libodd2.so", HERE / "odd.c", "-DWHO=8",
                 "-Dodd_mpi_mark_WHO=odd_mpi_mark_two")
    for order, version in (([one, two], 7), ([two, one], 8)):
        # Both with the program: the first, as for any symbol.
        done = run(preloaded([library, *order], [program, "version"]))
        assert done.stdout == f"version {version}\n"
        assert "several MPI libraries" in done.stderr
        # Opened later, one globally.
        done = run(preloaded([library], [
            program, "version", order[1], f"+{order[0]}"]))
        assert done.stdout == f"version {version}\n"
    done = run(preloaded([library], [program, "version", one, two]))
    assert done.returncode == -6
    assert str(one) in done.stderr and str(two) in done.stderr
    assert "two MPI libraries" in done.stderr


def test_other_preloaded_libraries_are_handed_on(one_host, library, tmp_path):
    source = tmp_path / "other.c"
    source.write_text("int other = 1;\n")
    others = [shared(tmp_path, f"other{i}.so", source) for i in range(2)]
    program = one_host.compile(HERE / "heirs.c")
    done = one_host.run(
        1, preloaded([others[0], library, others[1]], [program]),
        straightway=False, env={"STRAIGHTWAY_ONLY_THIS_PROGRAM": "on"},
        check=True)
    assert f"after: LD_PRELOAD={others[0]}:{others[1]}, 0 settings" \
        in done.stdout


def test_silence_is_explained(library):
    done = run(preloaded([library], ["true"]), STRAIGHTWAY_STATS="1")
    assert "true made no MPI call" in done.stderr
    done = run(preloaded([library], ["true"]), STRAIGHTWAY_STATS="1",
               PMI_RANK="1")
    assert done.stderr == ""


def test_flavours_depend_on_no_version_of_their_host(library):
    """All calls go through the table; what a host may lack is weak."""
    flavours = [path for path in library.parent.glob("libstraightway-*.so")
                if path.stem.split("-", 1)[1] in ("ompi", "mpich", "abi")]
    assert flavours
    for flavour in flavours:
        listed = subprocess.run(["nm", "-D", "--undefined-only", flavour],
                                check=True, text=True,
                                stdout=subprocess.PIPE).stdout
        strong = [line.split()[-1] for line in listed.splitlines()
                  if line.split()[0] == "U"]
        assert not [name for name in strong if "mpi" in name.lower()], flavour


# The calls of straightway.h --------------------------------------------------

INCLUDE = HERE.parents[1] / "include"
STRICT = ["-Wall", "-Wextra", "-Wshadow", "-pedantic", "-Werror"]
CALLS = "version {}, accelerate -1, profile -1\n"


def number(name):
    text = (INCLUDE / "straightway.h").read_text()
    return int(re.search(rf"STRAIGHTWAY_VERSION_{name} (\d+)", text).group(1))


def version():
    return (number("MAJOR") * 10000 + number("MINOR") * 100
            + number("PATCH"))


def built(folder, name, compiler, *flags):
    """A program or shared object of tests/front."""
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler} here")
    language = ["-x", "c++"] if "++" in compiler else []
    made = folder / pathlib.Path(name).stem
    subprocess.run([compiler, *STRICT, f"-I{INCLUDE}", *flags, "-o", made,
                    *language, HERE / name, "-x", "none", "-ldl"], check=True)
    return made


@pytest.mark.parametrize("flags", spread.some([
    "-fPIE -pie", "-fno-pie -no-pie", "-fPIC -no-pie",
    "-fno-pie -no-pie -Wl,-z,now", "-fno-pie -no-pie -mcmodel=medium",
    "-fno-pie -no-pie -flto", "-fPIE -pie -fno-plt"]))
@pytest.mark.parametrize("optimise", ["-O0", "-O2"])
@pytest.mark.parametrize("compiler,standard", [
    ("gcc", "c99"), ("clang", "c99"), ("gcc", "c17"),
    ("g++", "c++11"), ("clang++", "c++11"), ("g++", "c++20")])
def test_a_program_calls_and_links_with_nothing(library, tmp_path, compiler,
                                                standard, optimise, flags):
    if "mcmodel" in flags and platform.machine() != "x86_64":
        pytest.skip("a model of x86-64")
    program = built(tmp_path, "calls.c", compiler, f"-std={standard}",
                    optimise, *flags.split())
    done = run([program])
    assert (done.returncode, done.stdout) == (0, CALLS.format(0))
    done = run(preloaded([library], [program]))
    assert (done.returncode, done.stdout) == (0, CALLS.format(version()))


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("flags", ["-static", "-fno-pie -static",
                                   "-fPIE -static-pie"])
def test_a_static_program_calls_nothing(tmp_path, compiler, flags):
    program = built(tmp_path, "calls.c", compiler, *flags.split())
    done = run([program])
    assert (done.returncode, done.stdout) == (0, CALLS.format(0))


@pytest.mark.parametrize("compiler", ["gcc", "clang", "g++", "clang++"])
@pytest.mark.parametrize("pie", ["-no-pie", "-pie"])
def test_a_shared_object_calls_and_a_program_finds_by_name(library, tmp_path,
                                                           compiler, pie):
    module = built(tmp_path, "calls.c", compiler, "-shared", "-fPIC",
                   "-DNO_MAIN")
    program = built(tmp_path, "calls_loader.c", "cc", "-fPIE", pie)
    done = run([program, module])
    assert done.stdout == CALLS.format(0) + "dlsym 0\n"
    done = run(preloaded([library], [program, module]))
    assert done.stdout == CALLS.format(version()) + f"dlsym {version()}\n"


def test_fortran_names_a_region_as_the_documents_show(tmp_path):
    """The library here only writes the name down."""
    if not shutil.which("gfortran"):
        pytest.skip("no gfortran here")
    page = (HERE.parents[1] / "docs/profile.md").read_text()
    (tmp_path / "regions.c").write_text("\n".join(re.findall(
        r"^    (#include <straightway.h>|void region_.*)$", page, re.M)))
    assert "region_begin(name)" in (tmp_path / "regions.c").read_text()
    subprocess.run(["cc", f"-I{INCLUDE}", "-c", "regions.c"], cwd=tmp_path,
                   check=True)
    subprocess.run(["gfortran", HERE / "calls_fortran.f90", "regions.o", "-o",
                    "program"], cwd=tmp_path, check=True)
    (tmp_path / "lib.c").write_text(
        "#include <stdio.h>\n"
        "void straightway_region_begin(const char *n) { puts(n); }\n")
    stand_in = shared(tmp_path, "lib.so", tmp_path / "lib.c")
    program = tmp_path / "program"
    assert run([program]).stdout == ""
    assert run(preloaded([stand_in], [program])).stdout == "solve\n"


def test_the_header_has_the_version_of_the_release():
    text = (HERE.parents[1] / "pyproject.toml").read_text()
    found = re.search(r'^version = "(\d+)\.(\d+)\.(\d+)"$', text, re.M)
    assert [int(n) for n in found.groups()] == [
        number("MAJOR"), number("MINOR"), number("PATCH")]


def test_what_is_for_benchmarks_is_not_in_the_header():
    assert "ALONE" not in (INCLUDE / "straightway.h").read_text()
