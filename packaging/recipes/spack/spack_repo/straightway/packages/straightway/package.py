# Copyright (c) 2026, the Straightway authors
#
# SPDX-License-Identifier: BSD-3-Clause

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class Straightway(PythonPackage):
    """Straightway makes MPI communication faster inside a node, and collectives
    over several nodes, on programs as they are. It also records where the time
    in MPI goes, and predicts what a change would gain."""

    pypi = "straightway/straightway-0.1.0.tar.gz"

    license("BSD-3-Clause")

    # A release brings its version with the checksum of its source. Until then
    # `spack dev-build straightway@main` builds a clone.
    version("main")

    depends_on("c", type="build")
    depends_on("cmake@3.18:", type="build")
    depends_on("ninja", type="build")
    depends_on("py-scikit-build-core@0.10:", type="build")
    depends_on("py-pympistandard", type="build")
    depends_on("py-pip", type="build")

    # The build reads the headers of one MPI, and nothing links to it. The
    # installation serves every MPI of the same binary interface.
    depends_on("mpi", type="build")

    depends_on("python@3.9:", type=("build", "run"))
    depends_on("py-rich", type=("build", "run"))
    depends_on("py-jinja2", type=("build", "run"))
    depends_on("py-pyelftools@0.30:", type=("build", "run"))
    depends_on("py-tomli@1.1:", type=("build", "run"), when="^python@:3.10")

    # The manual and the completion of shells.
    depends_on("py-shtab", type="build")

    conflicts("platform=darwin", msg="Straightway needs Linux")
    conflicts("platform=windows", msg="Straightway needs Linux")

    def config_settings(self, spec, prefix):
        return {
            "cmake.define.STRAIGHTWAY_FETCH_HEADERS": "OFF",
            "cmake.define.STRAIGHTWAY_MPI_PREFIXES": spec["mpi"].prefix,
        }
