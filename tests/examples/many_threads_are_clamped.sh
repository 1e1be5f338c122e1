#!/usr/bin/env bash
# OMP_NUM_THREADS beyond what runtimes of OpenMP survive is lowered, in so many words.
# shellcheck source-path=SCRIPTDIR source=support.bash
. "$(dirname "${BASH_SOURCE[0]}")/support.bash"
export OMP_NUM_THREADS=100000

for example in vector_add jacobi jacobi3d matmul matrix_add; do
    run_checked "$example" --n 20
    grep -qF "$example: OMP_NUM_THREADS asks for 100000 threads; 1024 are used" "$work/err" ||
        fail "$example says nothing of its threads"
done
expect_exit 0 field make 400 "$work/plate.npy"
expect_exit 0 ../tools/polytile devices
grep -q '1024 OpenMP threads' "$work/out" || fail 'the host device has 1024 threads'
finish
