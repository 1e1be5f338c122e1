#!/usr/bin/env bash
# OMP_NUM_THREADS beyond what runtimes of OpenMP survive is lowered, in so many words.
# shellcheck source-path=SCRIPTDIR source=support.bash
. "$(dirname "${BASH_SOURCE[0]}")/support.bash"
export OMP_NUM_THREADS=100000

for example in vector_add jacobi jacobi3d walsh matmul matrix_add; do
    run_checked "$example" --n 16
    grep -qF "$example: OMP_NUM_THREADS asks for 100000 threads; 1024 are used" "$work/err" ||
        fail "$example says nothing of its threads"
done
expect_exit 0 field make 400 "$work/plate.npy"
expect_exit 0 ../tools/polytile devices
grep -q '1024 OpenMP threads' "$work/out" || fail 'the host device has 1024 threads'

# Numbers that an int has no room for: OpenMP cuts these to 1215752191, to a negative one and to 3.
for n in 99999999999 2147483648 4294967299; do
    export OMP_NUM_THREADS=$n
    run_checked vector_add --n 20
    grep -qF "OMP_NUM_THREADS asks for $n threads; 1024 are used" "$work/err" ||
        fail "$n threads are not told as they were given"
done
finish
