# Copyright (c) 2026, the Straightway authors
#
# SPDX-License-Identifier: BSD-3-Clause

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class PyPyelftools(PythonPackage):
    """pyelftools reads ELF files and DWARF debugging information."""

    pypi = "pyelftools/pyelftools-0.33.tar.gz"

    version("0.33",
            sha256="660d82dcbeb8e83d1702bd97f223f761625da06111c0cc988eac6b8ab0c1b61f")

    depends_on("py-setuptools", type="build")
