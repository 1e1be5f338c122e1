#!/usr/bin/env bash
# On several ranks of MPI each example computes what it does in one process, bit for bit; the first
# rank alone speaks, and all end with the same exit code.
# shellcheck source-path=SCRIPTDIR source=support.bash
. "$(dirname "${BASH_SOURCE[0]}")/support.bash"

if [[ -z $mpiexec ]]; then
    expect_refusal 2 'built without MPI' vector_add --n 10 --ranks 2
    ((failures == 0)) || finish
    echo 'skipped: the examples were built without MPI'
    exit 77
fi
command -v "$mpiexec" >/dev/null || { echo 'skipped: no mpiexec here'; exit 77; }

# The leak sanitizer does not look for what MPI's plug-ins leak.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

# Expects that one rank has spoken for all of them: NUMBER
expect_one_voice() {
    expect "ranks == $1"
    [[ $(grep -c '^{' "$work/out") == 1 ]] || fail 'one line of JSON is printed'
    [[ ! -s $work/err ]] || fail 'nothing is written to stderr'
}

# Runs an example on ranks and compares its bytes: NUMBER EXAMPLE ARGUMENTS...
run_ranks() {
    local n=$1
    shift
    prefix=(timeout 60 "$mpiexec" -n "$n")
    run_same "$@"
    prefix=()
    expect_one_voice "$n"
}

# Expects a refusal of all ranks, said once: CODE TEXT NUMBER EXAMPLE ARGUMENTS...
expect_refusal_of_ranks() {
    local code=$1 text=$2
    prefix=(timeout 60 "$mpiexec" -n "$3")
    shift 3
    expect_exit "$code" "$@"
    prefix=()
    [[ $(grep -cF -- "$text" "$work/err") == 1 ]] || fail "$*: stderr has \"$text\" once"
    ! grep -q '^{' "$work/out" || fail "$*: a refusal wrote JSON"
}

# Slots that send messages between ranks.
for n in 1 2 3; do
    prefix=(timeout 60 "$mpiexec" -n "$n")
    for bytes in 0 8 4097 100000; do
        run_checked pingpong --bytes "$bytes" --rounds 10
    done
    run_checked cannon --n 51 --teams 3 --repeat 2
    run_checked nbody --n 77 --steps 3 --repeat 2
    prefix=()
    run_ranks "$n" mandelbrot --n 50
done
for n in 1 2 3; do
    for kib in 0 64; do
        where=(--device host)
        ((kib == 0)) || where+=(--limit "${kib}KiB")
        run_ranks "$n" vector_add --n 100003 "${where[@]}"
        run_ranks "$n" matrix_add --n 173 "${where[@]}" --repeat 2
        run_ranks "$n" jacobi --n 117 --steps 7 "${where[@]}" --repeat 2
        run_ranks "$n" jacobi3d --n 29 --steps 4 "${where[@]}"
        run_ranks "$n" walsh --n 4096 "${where[@]}"
        run_ranks "$n" matmul --n 157 "${where[@]}"
        run_ranks "$n" apsp --scale 8 --sources 100 "${where[@]}"
        run_ranks "$n" apsp --scale 6 --sources 3 --kernel crauser "${where[@]}"
        run_ranks "$n" matmul --n 157 --split-k off "${where[@]}"
        expect "limit_bytes == $kib * 1024"
    done
done

# Without mpiexec, --ranks starts it; with, it must agree.
for example in vector_add matrix_add 'jacobi --steps 3' 'jacobi3d --steps 3' matmul; do
    # shellcheck disable=SC2086 # an example and its options
    run_same $example --n 40 --ranks 2
    expect_one_voice 2
    expect 'devices == 2'
done
run_same jacobi --n 40 --steps 3 --ranks 1
expect_one_voice 1
run_ranks 2 jacobi --n 40 --steps 3 --ranks 2
expect_refusal_of_ranks 2 '--ranks 3' 2 jacobi --n 40 --ranks 3
expect_refusal_of_ranks 2 '--ranks 2' 1 jacobi --n 40 --ranks 2

# Ranks on one machine take the devices of a list in turn.
run_ranks 3 jacobi --n 117 --steps 7 --device 'host(memory=64KiB),host(memory=96KiB)'
expect 'devices == 3'
expect 'limit_bytes == 96 * 1024'

# Several devices of each rank, with plus signs between them.
for devices in host+host 'host(memory=64KiB)+host(memory=96KiB)' host+host+host,host+host+host; do
    run_ranks 2 vector_add --n 100003 --device "$devices"
    run_ranks 2 matrix_add --n 173 --device "$devices" --repeat 2
    run_ranks 2 jacobi --n 117 --steps 7 --device "$devices" --repeat 2
    run_ranks 2 jacobi3d --n 29 --steps 4 --device "$devices"
    run_ranks 2 walsh --n 4096 --device "$devices"
    run_ranks 2 matmul --n 157 --device "$devices"
    run_ranks 2 matmul --n 157 --split-k off --device "$devices"
    run_ranks 2 apsp --scale 8 --sources 100 --device "$devices"
    run_ranks 2 apsp --scale 6 --sources 3 --kernel crauser --device "$devices"
done
expect 'devices == 6'
run_ranks 3 jacobi --n 117 --steps 7 --device 'host(memory=64KiB)+host,host+host(memory=96KiB)'
expect 'devices == 6'
expect_refusal_of_ranks 2 '1 device a rank' 2 vector_add --n 10 --device host+host,host

# Files, plans, traces.
expect_exit 0 field make 70x90 "$work/plate.npy" f64
run_ranks 3 jacobi --input "$work/plate.npy" --steps 5 --limit 64KiB
leftovers=("$work"/*scratch* "$work"/*.part)
[[ ! -e ${leftovers[0]} && ! -e ${leftovers[1]} ]] || fail 'no scratch file is left over'
run_ranks 3 vector_add --n 1
run_ranks 3 jacobi --n 3 --steps 2
prefix=(timeout 60 "$mpiexec" -n 2)
run_checked jacobi --n 64 --steps 2 --limit 64KiB --trace "$work/trace.json"
grep -q 'traceEvents' "$work/trace.json" || fail 'no trace was written'
expect_exit 0 matmul --n 4096 --limit 1MiB --plan --json
expect_one_voice 2
expect_exit 0 vector_add --help
[[ $(grep -c '^usage' "$work/out") == 1 ]] || fail 'the help is printed once'

# What is wrong on all ranks or on one.
expect_refusal_of_ranks 2 'unknown option' 2 vector_add --bogus
expect_refusal_of_ranks 2 'unknown device' 3 vector_add --n 10 --device gpu
expect_refusal_of_ranks 3 'limit' 2 matmul --n 4096 --limit 1KiB --split-k off
expect_refusal_of_ranks 2 'cannot create' 3 vector_add --n 10 --output "$work/no/such/folder.npy"
expect_refusal_of_ranks 2 'cannot be written' 2 jacobi --n 10 --trace "$work/no/such/folder.json"
for example in vector_add jacobi matmul; do
    expect_refusal_of_ranks 2 'No such file' 2 "$example" --input "$work/missing.npy"
done
expect_refusal_of_ranks 2 'rank 1 was given ' 1 jacobi --input "$work/plate.npy" \
    : -n 1 "$bin/jacobi" --input "$work/missing.npy"
expect_refusal_of_ranks 2 'rank 1 was given ' 1 matmul --n 10 : -n 1 "$bin/matmul" --bogus
expect_refusal_of_ranks 2 'rank 1 was given ' 1 vector_add --n 10 : -n 1 "$bin/vector_add" --device gpu
finish
