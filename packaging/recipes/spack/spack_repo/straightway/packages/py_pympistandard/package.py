# Copyright (c) 2026, the Straightway authors
#
# SPDX-License-Identifier: BSD-3-Clause

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class PyPympistandard(PythonPackage):
    """pympistandard reads the MPI Forum's list of procedures."""

    pypi = "pympistandard/pympistandard-0.2.0.tar.gz"

    license("MIT")

    version("0.2.0",
            sha256="cc7d5aa339289ff8e981dce1af69dbdadde2efb070eab66900d130ddca20fad7")

    depends_on("python@3.8:", type=("build", "run"))
    depends_on("py-pdm-backend", type="build")
