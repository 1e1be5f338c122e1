# SPDX-License-Identifier: Apache-2.0

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Polytile(CMakePackage):
    """Runs kernels on arrays larger than the memory of a device: a program declares which elements
    a thread touches, and the library cuts launches so that they fit, and moves what they need."""

    license("Apache-2.0", checked_by="polytile")

    # Until there is a release, a source tree: spack dev-build polytile@0.1.0
    version("0.1.0")

    variant("shared", default=True, description="Build shared libraries")
    variant("cuda", default=False, description="Build the CUDA device")
    variant("mpi", default=True, description="Build queues over the ranks of a communicator")
    variant("fortran", default=False, description="Build the module for Fortran")
    variant("examples", default=False, description="Build the examples")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("isl@0.20:")
    depends_on("gmp")
    depends_on("jansson@2.10:")
    depends_on("mpi@3:", when="+mpi")
    depends_on("cuda@12:", when="+cuda")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("POLYTILE_CUDA", "cuda"),
            self.define_from_variant("POLYTILE_MPI", "mpi"),
            self.define_from_variant("POLYTILE_FORTRAN", "fortran"),
            self.define_from_variant("POLYTILE_BUILD_EXAMPLES", "examples"),
            self.define("POLYTILE_BUILD_BENCHMARKS", False),
            self.define("BUILD_TESTING", False),
        ]
