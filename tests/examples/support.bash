#!/usr/bin/env bash
# What the script tests of the examples share. Arguments of each: the examples' build directory, the
# source directory, and mpiexec if the examples were built with MPI. A test that has nothing to run on
# exits with 77.
set -uo pipefail
# shellcheck disable=SC2034 # used by the tests
readonly bin=$1 source_dir=$2 mpiexec=${3:-}
work=$(mktemp -d)
readonly work
trap 'rm -rf "$work"' EXIT
export OMP_WAIT_POLICY=passive
failures=0
prefix=() # of the commands that run examples, such as mpiexec -n 2

# Of some values all, or where runs are shortened one, another with each seed: VALUE...
some() {
    local digits=000000000${POLYTILE_TEST_SEED:-0}
    if awk "BEGIN { exit !(${POLYTILE_TEST_SCALE:-1} < 0.2) }"; then
        shift $((10#${digits: -9} % $#))
        echo "$1"
    else
        echo "$*"
    fi
}

# A broken expectation: what was expected, then the output in question.
fail() {
    printf 'FAILED: %s\n' "$1" >&2
    sed 's/^/    /' "$work/out" "$work/err" >&2
    failures=$((failures + 1))
}

# Runs an example and expects an exit code: CODE EXAMPLE ARGUMENTS...
expect_exit() {
    local wanted=$1 name=$2 code=0
    shift 2
    "${prefix[@]}" "$bin/$name" "$@" </dev/null >"$work/out" 2>"$work/err" || code=$?
    ((code == wanted)) || fail "$name $*: exit code $code, expected $wanted"
}

# Expects a refusal with a code and a text on stderr: CODE TEXT EXAMPLE ARGUMENTS...
expect_refusal() {
    local wanted=$1 text=$2
    shift 2
    expect_exit "$wanted" "$@"
    grep -qF -- "$text" "$work/err" || fail "$*: stderr lacks \"$text\""
    [[ ! -s $work/out ]] || fail "$*: a refusal wrote to stdout"
}

# The value of a key in the last line's JSON: KEY
value() { tail -n 1 "$work/out" | sed -n "s/.*\"$1\": \"\{0,1\}\([^,\"}]*\).*/\1/p"; }

# Expects an arithmetic relation between values, such as 'kernels > 1': RELATION
expect() {
    local relation=$1 expression=$1 key
    # shellcheck disable=SC2013 # keys are words
    for key in $(grep -oE '[a-z][a-z0-9_]*' <<<"$relation"); do
        [[ -n $(value "$key") ]] || { fail "no $key in the JSON"; return; }
        expression=$(sed -E "s/\b$key\b/$(value "$key")/g" <<<"$expression")
    done
    awk "BEGIN { exit !($expression) }" || fail "$relation does not hold: $expression"
}

# Runs an example and expects it to equal a plain loop: EXAMPLE ARGUMENTS...
run_checked() {
    expect_exit 0 "$@" --check --json
    expect 'max_error == 0'
    expect 'kernels >= 1'
    expect 'total_s > 0'
}

# The same on several devices or ranks, with the bytes that one process writes: EXAMPLE ARGUMENTS...
run_same() {
    run_checked "$@" --output "$work/many.npy"
    expect_written "$@"
}

# Expects the bytes of another run's output file, this one being in one process on one device, whose
# arguments are those before the first that tells where to run: EXAMPLE ARGUMENTS...
expect_written() {
    local name=$1 arguments=()
    while shift && (($# > 0)) && [[ $1 != --device && $1 != --ranks && $1 != --limit ]]; do
        arguments+=("$1")
    done
    "$bin/$name" "${arguments[@]}" --output "$work/one.npy" >/dev/null || fail "$name on one device"
    cmp "$work/one.npy" "$work/many.npy" || fail "$name ${arguments[*]}: the bytes differ"
}

# The same within a limit, and not below the least traffic: EXAMPLE ARGUMENTS...
run_limited() {
    run_checked "$@"
    expect 'peak_device_bytes <= limit_bytes'
    expect 'peak_device_bytes > 0'
    expect 'h2d_bytes + d2h_bytes >= lower_bound_bytes'
}

# Whether there is a GPU that the examples can use.
has_gpu() { "$bin/../tools/polytile" devices 2>/dev/null | grep '^cuda:' >/dev/null; }

finish() {
    ((failures == 0)) || printf '%d expectations failed\n' "$failures" >&2
    exit $((failures > 0))
}
