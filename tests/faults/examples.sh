#!/usr/bin/env bash
# Calls of the C library fail in turn, once and for ever, while the examples, the command and a program
# in the short form run: none ends by a signal, what ends with an error leaves with the code of errors
# and names what failed, and what the command or the short form completes is what it is without faults.
# Arguments: the build directory, the library to preload, and how many points of each to try (all if 0).
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

# Whether what is on stderr names what failed: KIND
names_fault() {
    case $1 in
        memory | isl-memory) grep -qi 'memory' "$work/err" ;;
        threads) grep -qiE 'thread|memory' "$work/err" ;;
        files) grep -qE 'cannot|not ' "$work/err" ;;
        *) false ;;
    esac
}

# What a program has made, without the time that it took.
keep_results() {
    rm -rf "${work:?}/$1" && mkdir "$work/$1"
    sed -E '/"plan_seconds"|^  planned in /d' "$work/out" >"$work/$1/out"
    [[ ! -e $work/plan.svg ]] || mv "$work/plan.svg" "$work/$1/"
}

# The kinds of calls that fail; without GMP's header in the build, its numbers end the process.
kinds=(memory isl-memory files threads short)
if ! grep -q /access/gmp/ "$build/compile_commands.json"; then
    echo "built without GMP's header: its calls do not fail here"
    kinds=(memory files threads short)
fi

# One point of a program: KIND N FOR_EVER COMMAND...
try() {
    run_with "$@"
    is_ended_by_openmp && return
    case $code in
        0) ((!compares)) || is_as_without || fail "$*: done, and not what it is without a fault" ;;
        "$refused") names_fault "$1" || fail "$*: stderr does not name what failed" ;;
        *) fail "$*: exit code $code" ;;
    esac
}

is_as_without() {
    keep_results with
    diff -r "$work/without" "$work/with" >&2
}

# isl has no other way than to crash where it makes a context: the library says what that is. COMMAND...
try_contexts() {
    local n n_points n_crashes=0
    run_with isl-context 0 '' "$@"
    n_points=$(<"$work/count")
    for ((n = 1; n <= n_points; n++)); do
        run_with isl-context "$n" '' "$@" 2>/dev/null
        case $code in
            0) ;;
            "$refused") names_fault memory || fail "$*: stderr does not name what failed" ;;
            139)
                n_crashes=$((n_crashes + 1))
                grep -q '^polytile: isl_ctx_alloc(): ended by SIGSEGV: isl has no memory' "$work/err" ||
                    fail "$*: isl's crash is not told of"
                ;;
            *) fail "$*: exit code $code" ;;
        esac
    done
    printf '%s: %s points of kind isl-context, %s crashes that are told of\n' "$(basename "$1")" "$n_points" \
        "$n_crashes"
}

# Every point of a program, or the first $n_first and some that are as far apart: COMMAND...
try_all() {
    local kind n n_points step ever
    for kind in "${kinds[@]}"; do
        run_with "$kind" 0 '' "$@"
        ((code == 0)) || { fail "$*: exit code $code without a fault"; return; }
        keep_results without
        n_points=$(<"$work/count")
        step=$((n_most == 0 || n_points < n_most ? 1 : n_points / n_most))
        printf '%s: %s points of kind %s, every %s-th\n' "$(basename "$1")" "$n_points" "$kind" "$step"
        for ((n = 1; n <= n_points; n += n < n_first ? 1 : step)); do
            for ever in '' yes; do
                try "$kind" "$n" "$ever" "$@"
            done
        done
    done
}

# Examples print how long they took, and look at what they computed by themselves: their code 1.
compares=0 refused=2 n_first=0
examples=$build/examples
try_all "$examples/vector_add" --n 1000 --limit 4KiB --check --json --output "$work/z.npy"
try_all "$examples/vector_add" --n 1000 --device host --input "$work/z.npy" --trace "$work/trace"
try_all "$examples/matrix_add" --n 40 --limit 4KiB --check
try_all "$examples/jacobi" --n 40 --steps 4 --limit 8KiB --check
try_all "$examples/jacobi3d" --n 12 --steps 4 --limit 16KiB --check
try_all "$examples/walsh" --n 256 --limit 512B --check
try_all "$examples/matmul" --n 32 --limit 4KiB --check
try_all "$examples/apsp" --scale 5 --sources 6 --limit 16KiB --check --json --output "$work/dist.npy"
try_all "$examples/apsp" --graph grid --scale 3 --sources 2 --kernel crauser --check
# Not saliency: FFTW ends the process itself where it has no memory.
try_all "$examples/granulometry" --n 6 --sizes 2 --device 'host(memory=64KiB)' --check --output "$work/left.npy"
printf '%s\n' 'p sp 3 2' 'a 1 2 5' 'a 2 3 7' >"$work/three.gr"
try_all "$examples/apsp" --graph "$work/three.gr" --check
try_all "$examples/spmv" --rows 100 --limit 4KiB --check --json --output "$work/y.npy"
printf '%s\n' '%%MatrixMarket matrix coordinate real symmetric' '3 3 2' '1 1 5' '3 2 7' >"$work/three.mtx"
try_all "$examples/spmv" --matrix "$work/three.mtx" --kernel entries --check
try_all "$examples/cg" --rows 50 --degree 4 --iterations 2 --limit 4KiB --check --json --output "$work/x.npy"
# The command reads its options first; what it and the short form print is the same each time.
compares=1 refused=1 n_first=16
jacobi=(--kernel 'jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]' --domain 1:38x1:38
    --array A:f32:40x40 B:f32:40x40)
shift=(--kernel 'f[i]: in A[i+n]; out B[i]' --param n=0 --domain 100 --array A:f32:100 B:f32:100)
polytile=$build/tools/polytile
try_all "$polytile" plan "${jacobi[@]}" --limit 8KiB --json --svg "$work/plan.svg"
try_all "$polytile" plan "${shift[@]}" --steps 3 --swap A=B --scratch B --limit 600B
try_all "$polytile" plan "${shift[@]}" --ranks 2 --json
try_all "$polytile" check "${jacobi[@]}"
try_contexts "$polytile" check "${jacobi[@]}"
try_all "$polytile" check "${shift[@]}" --swap A=B --json
try_all "$build/polytile_short_form"
finish
