#!/bin/bash
set -euo pipefail
# shellcheck disable=SC2086  # CMAKE_ARGS are words
cmake -S . -B build -G Ninja ${CMAKE_ARGS} \
    -DCMAKE_INSTALL_LIBDIR=lib \
    -DBUILD_SHARED_LIBS=ON \
    -DBUILD_TESTING=OFF \
    -DPOLYTILE_BUILD_BENCHMARKS=OFF \
    -DPOLYTILE_BUILD_EXAMPLES=OFF \
    -DPOLYTILE_CUDA=OFF \
    -DPOLYTILE_FORTRAN=OFF \
    -DPOLYTILE_MPI=OFF
cmake --build build -j "${CPU_COUNT}"
cmake --install build --prefix "${PREFIX}"
