"""Build wheels that every Linux of today takes: wheel.py [PROCESSOR ...].

    .venv/bin/python packaging/wheel.py x86_64 aarch64

A wheel is built for a processor and for glibc GLIBC, whatever this machine has.
The compiler is clang as the package `ziglang` carries it, with the headers and
stubs of that glibc. Nothing of the machine's own comes into the wheel but
pip, CMake and Python.

auditwheel then looks at every binary in the wheel. What needs a newer glibc or
a library that not every machine has is an error. The result lies in
build/dist. Two builds of one commit give the same bytes: times come from
SOURCE_DATE_EPOCH (else from the commit), and no path of the build stays.
"""
import argparse
import os
import pathlib
import platform
import re
import shlex
import stat
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DIST = ROOT / "build" / "dist"
GLIBC = "2.28"
PROCESSORS = ("x86_64", "aarch64")


def epoch():
    """The time that all files of a wheel have, in seconds, as text."""
    said = os.environ.get("SOURCE_DATE_EPOCH")
    if said:
        return said
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT,
                          text=True, capture_output=True)
    return done.stdout.strip() or "1577836800"


def check_tags():
    """A tag vX.Y.Z of this commit names pyproject.toml's version. Otherwise the
    release would have two."""
    project = (ROOT / "pyproject.toml").read_text()
    said = re.search(r'^version = "(.+)"', project, re.M)[1]
    done = subprocess.run(["git", "tag", "--points-at", "HEAD", "v[0-9]*"],
                          cwd=ROOT, text=True, capture_output=True)
    for tag in done.stdout.split():
        if tag != f"v{said}":
            sys.exit(f"the commit has the tag {tag}, and pyproject.toml the "
                     f"version {said}: make them agree (CONTRIBUTING.md, "
                     "Releasing)")


def compiler(folder, processor):
    """A command `cc` in this folder that compiles for the processor."""
    import ziglang
    zig = pathlib.Path(ziglang.__file__).with_name("zig")
    folder.mkdir(parents=True, exist_ok=True)
    cc = folder / "cc"
    cc.write_text(
        "#!/bin/sh\n"
        f"exec '{zig}' cc -target {processor}-linux-gnu.{GLIBC} "
        f"-fno-sanitize=all -ffile-prefix-map='{ROOT}'=. \"$@\"\n")
    cc.chmod(cc.stat().st_mode | stat.S_IXUSR)
    return cc


def unwinder(cc):
    """The linker's flags for libgcc_s.so.1, which every Linux has: exceptions
    pass through the library's frames. ziglang has no stub of it. By -lgcc_s
    it would link an unwinder of its own, which cannot read gcc's frames."""
    source, stub = cc.with_name("unwinder.c"), cc.with_name("unwinder.so")
    source.write_text("void __gcc_personality_v0(void) {}\n"
                      "void _Unwind_Resume(void) {}\n")
    subprocess.run([cc, "-shared", "-fPIC", "-Wl,-soname,libgcc_s.so.1",
                    "-o", stub, source], check=True)
    return f"-Wl,--as-needed {stub}"


def build(processor, folder):
    """The path of a wheel for the processor, as the build tags it."""
    place = ROOT / "build" / f"wheel-{processor}"
    cc = compiler(place, processor)
    options = {
        "CMAKE_SYSTEM_NAME": "Linux", "CMAKE_SYSTEM_PROCESSOR": processor,
        "CMAKE_BUILD_TYPE": "RelWithDebInfo",
        "CMAKE_MODULE_LINKER_FLAGS": unwinder(cc)}
    if processor != platform.machine():
        # The manual quotes the help of a command that runs here.
        options["STRAIGHTWAY_HELP_COMMAND"] = pathlib.Path(
            sys.executable).with_name("straightway")
    env = {
        **os.environ, "CC": str(cc), "SOURCE_DATE_EPOCH": epoch(),
        "_PYTHON_HOST_PLATFORM": f"linux-{processor}",
        "CMAKE_ARGS": shlex.join(
            f"-D{k}={v}" for k, v in options.items())}
    subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel",
         "--no-build-isolation", "--no-deps", "--wheel-dir", folder / "built",
         f"--config-settings=build-dir={place}",
         "--config-settings=install.strip=true", "."],
        cwd=ROOT, env=env, check=True)
    wheel, = (folder / "built").glob("*.whl")
    return wheel


def check(wheel, processor):
    """The wheel under the name that auditwheel gives it: of the oldest glibc
    that suffices. A later one than GLIBC is an error."""
    bin_dir = pathlib.Path(sys.executable).parent
    subprocess.run(
        [sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", DIST,
         wheel], check=True,
        env={**os.environ, "SOURCE_DATE_EPOCH": epoch(),
             "PATH": f"{bin_dir}:{os.environ['PATH']}"})
    found, = DIST.glob(f"*_{processor}.whl")
    needs = re.search(r"manylinux_2_(\d+)_", found.name)
    if not needs or int(needs[1]) > int(GLIBC.partition(".")[2]):
        found.unlink()
        sys.exit(f"{found.name} is not for glibc {GLIBC}")
    return found


def processors():
    p = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    p.add_argument("processor", nargs="*", metavar="PROCESSOR",
                   help=f"of {', '.join(PROCESSORS)} [all]")
    chosen = p.parse_args().processor or PROCESSORS
    for unknown in set(chosen) - set(PROCESSORS):
        p.error(f"{unknown}: give {' or '.join(PROCESSORS)}")
    return chosen


def main():
    chosen = processors()
    check_tags()
    DIST.mkdir(parents=True, exist_ok=True)
    for processor in chosen:
        for old in DIST.glob(f"*_{processor}.whl"):
            old.unlink()
        with tempfile.TemporaryDirectory() as folder:
            wheel = check(build(processor, pathlib.Path(folder)), processor)
        size = wheel.stat().st_size / 1e6
        print(f"{wheel.relative_to(ROOT)}  {size:.1f} MB")


if __name__ == "__main__":
    main()
