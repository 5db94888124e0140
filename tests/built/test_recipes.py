"""Recipes of packaging/: each has the version and what the package needs."""

import ast
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
import yaml

from harness import patience
from harness.hosts import COMMAND, ROOT

try:
    import tomllib
except ImportError:
    import tomli as tomllib

PACKAGING = ROOT / "packaging"
RECIPES = PACKAGING / "recipes"
SPACK = RECIPES / "spack" / "spack_repo" / "straightway"
SCRIPTS = ["packaging/debian/tests/preloaded", *sorted(
    str(path.relative_to(ROOT)) for path in PACKAGING.glob("*.sh"))]


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.fixture(scope="module")
def version():
    text = (ROOT / "include" / "straightway.h").read_text()
    return ".".join(re.search(rf"VERSION_{part} (\d+)", text)[1]
                    for part in ("MAJOR", "MINOR", "PATCH"))


def easyconfig():
    (path,) = (RECIPES / "easybuild").glob("*.eb")
    return path


def read(name):
    return {"debian": PACKAGING / "debian" / "control",
            "conda-forge": RECIPES / "conda-forge" / "recipe.yaml",
            "spack": SPACK / "packages" / "straightway" / "package.py",
            "easybuild": easyconfig()}[name].read_text()


@pytest.mark.parametrize("name", ["debian", "conda-forge", "spack",
                                  "easybuild"])
def test_a_recipe_names_what_the_package_needs(project, name):
    text = read(name)
    needed = [re.match(r"[\w-]+", one)[0]
              for one in project["project"]["dependencies"]]
    assert {"rich", "jinja2", "pyelftools"} <= set(needed)
    for one in needed:
        # Debian 12 and conda-forge have a Python with tomllib.
        if one != "tomli" or name == "spack":
            assert re.search(rf"\b{one}\b", text, re.I), one
    assert "shtab" in text


def test_recipes_have_the_version_of_the_header(version):
    conda = yaml.safe_load(read("conda-forge"))
    assert conda["context"]["version"] == version
    debian = (PACKAGING / "debian" / "changelog").read_text()
    assert debian.startswith(f"straightway ({version}-")
    assert f"version = '{version}'" in read("easybuild")
    assert easyconfig().name.startswith(f"Straightway-{version}-GCCcore-")
    assert f"straightway-{version}.tar.gz" in read("spack")


@pytest.mark.parametrize("package", ["straightway", "py_pympistandard",
                                     "py_pyelftools"])
def test_spack_recipes_are_python_with_one_class(package):
    """Spack itself was run by hand: docs/install.md."""
    path = SPACK / "packages" / package / "package.py"
    classes = [one.name for one in ast.parse(path.read_text()).body
               if isinstance(one, ast.ClassDef)]
    assert classes == ["".join(part.capitalize()
                               for part in package.split("_"))]
    assert yaml.safe_load((SPACK / "repo.yaml").read_text())["repo"] == {
        "namespace": "straightway", "api": "v2.0"}


def test_the_easyconfig_is_python():
    names = {target.id for one in ast.parse(read("easybuild")).body
             if isinstance(one, ast.Assign) for target in one.targets}
    assert {"name", "version", "homepage", "description", "toolchain",
            "moduleclass", "exts_list"} <= names


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_are_of_the_shell(name):
    subprocess.run(["sh", "-n", ROOT / name], check=True)


def test_debian_installs_each_folder_that_the_build_makes():
    """What CMake installs is in a package, or Debian's build leaves it out."""
    named = "\n".join((PACKAGING / "debian" / name).read_text() for name in (
        "straightway.install", "straightway-dev.install", "not-installed"))
    prefix = COMMAND.resolve().parent.parent
    made = {"share/" + path.name for path in (prefix / "share").iterdir()
            if path.name in ("bash-completion", "zsh", "fish", "cmake",
                             "pkgconfig", "modulefiles", "man")}
    assert len(made) == 7
    for folder in made | {"bin", "include", "lib/straightway"}:
        assert f"usr/{folder}" in named, folder


def modulecmd():
    """The program of Environment Modules or of Lmod, or None."""
    places = ["/usr/lib/x86_64-linux-gnu/modulecmd.tcl",
              "/usr/lib/aarch64-linux-gnu/modulecmd.tcl",
              "/usr/share/modules/libexec/modulecmd.tcl",
              "/usr/lib/modulecmd.tcl"]
    found = shutil.which("modulecmd.tcl")
    return found or next((one for one in places if os.path.exists(one)), None)


def test_module_load_finds_command_pages_and_headers():
    program = modulecmd()
    if not program:
        pytest.skip("no Environment Modules")
    prefix = COMMAND.resolve().parent.parent
    # A folder that is in PATH already keeps its place there.
    env = {**{name: value for name, value in os.environ.items()
              if not name.startswith(("MODULE", "LOADED", "__MODULES", "_LM"))},
           "PATH": os.pathsep.join(
               one for one in os.environ["PATH"].split(os.pathsep)
               if pathlib.Path(one) != prefix / "bin")}
    done = patience.run(
        ["tclsh", program, "python", "load", "straightway"], timeout=60,
        text=True, capture_output=True, env={
            **env, "MODULEPATH": str(prefix / "share" / "modulefiles")})
    assert done.returncode == 0 and not done.stderr.strip(), done.stderr
    said = subprocess.run(
        [sys.executable, "-c", done.stdout + "\nimport json\n"
         "print(json.dumps(dict(os.environ)))"], text=True,
        capture_output=True, check=True, env=env).stdout
    found = json.loads(said)
    for variable, folder in [("PATH", "bin"), ("MANPATH", "share/man"),
                             ("CPATH", "include"), ("CMAKE_PREFIX_PATH", ""),
                             ("PKG_CONFIG_PATH", "share/pkgconfig")]:
        first = pathlib.Path(found[variable].split(":")[0])
        assert first.samefile(prefix / folder), variable
