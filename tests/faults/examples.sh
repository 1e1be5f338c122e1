#!/usr/bin/env bash
# Calls of the C library fail in turn, once and for ever, while the examples and the command run: none
# ends by a signal, and what ends with an error says so. Arguments: the build directory, the library to
# preload, and how many points of each to try (all if 0).
# shellcheck source-path=SCRIPTDIR/../examples source=../examples/support.bash
build=$1 library=$2 n_most=${3:-8}
. "$(dirname "${BASH_SOURCE[0]}")/../examples/support.bash" "$build" .
export OMP_NUM_THREADS=2 POLYTILE_CACHE=$work/cache

# Runs with a fault: KIND N FOR_EVER COMMAND... The exit code is in $code.
run_with() {
    local kind=$1 n=$2 ever=$3
    shift 3
    code=0
    timeout 60 env LD_PRELOAD="$library" FAULTS_KIND="$kind" FAULTS_N="$n" \
        ${ever:+FAULTS_FOR_EVER=1} FAULTS_COUNT="$work/count" "$@" </dev/null >"$work/out" 2>"$work/err" || code=$?
}

# LLVM's OpenMP runtime ends the process itself where it has no memory, and says so.
is_ended_by_openmp() { ((code == 134)) && grep -q '^OMP: Error #' "$work/err"; }

# One point of a program: KIND N FOR_EVER COMMAND...
try() {
    run_with "$@"
    is_ended_by_openmp && return
    ((code < 124)) || fail "$*: exit code $code"
    ((code == 0)) || [[ -s $work/err ]] || fail "$*: exit code $code, and nothing on stderr"
}

# Every point of a program, or some that are as far apart: COMMAND...
try_all() {
    local kind n n_points step ever
    for kind in memory isl-memory files threads short; do
        run_with "$kind" 0 '' "$@"
        ((code == 0)) || { fail "$*: exit code $code without a fault"; return; }
        n_points=$(<"$work/count")
        step=$((n_most == 0 || n_points < n_most ? 1 : n_points / n_most))
        printf '%s: %s points of kind %s, every %s-th\n' "$(basename "$1")" "$n_points" "$kind" "$step"
        for ((n = 1; n <= n_points; n += step)); do
            for ever in '' yes; do
                try "$kind" "$n" "$ever" "$@"
            done
        done
    done
}

examples=$build/examples
try_all "$examples/vector_add" --n 1000 --limit 4KiB --check --json --output "$work/z.npy"
try_all "$examples/vector_add" --n 1000 --device host --input "$work/z.npy" --trace "$work/trace"
try_all "$examples/matrix_add" --n 40 --limit 4KiB --check
try_all "$examples/jacobi" --n 40 --steps 4 --limit 8KiB --check
try_all "$examples/jacobi3d" --n 12 --steps 4 --limit 16KiB --check
try_all "$examples/matmul" --n 32 --limit 4KiB --check
command=(--kernel 'jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]' --domain 1:38,1:38
    --array A:f32:40x40 --array B:f32:40x40)
try_all "$build/tools/polytile" plan "${command[@]}" --limit 8KiB --json --svg "$work/plan.svg"
try_all "$build/tools/polytile" check "${command[@]}"
finish
