#!/usr/bin/env bash
# A program that is killed at any time leaves the old file or the new one, whole, under the name of its
# output. KILLS says how many of each kind are killed.
# shellcheck source-path=SCRIPTDIR source=support.bash
. "$(dirname "${BASH_SOURCE[0]}")/support.bash"
set -m # each program in a process group of its own
readonly kills=${KILLS:-30} arguments=(jacobi --n 400 --steps 300 --device 'host(memory=256KiB,threads=2)')

# Runs a program for as long as the seconds say and kills it with all that it started: SECONDS EXAMPLE ...
run_and_kill() {
    local seconds=$1 name=$2 pid
    shift 2
    "$bin/$name" "$@" </dev/null >"$work/out" 2>"$work/err" &
    pid=$!
    sleep "$seconds"
    kill -KILL -- "-$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
}

# Kills a program as often: EXAMPLE ARGUMENTS...
kill_often() {
    local start now long k at n_old=0 n_new=0
    expect_exit 0 "$@" --output "$work/new.npy"
    start=$(date +%s%N)
    expect_exit 0 "$@" --output "$work/new.npy"
    now=$(date +%s%N)
    long=$(((now - start) * 11 / 10))
    for ((k = 0; k < kills; k++)); do
        cp "$work/old.npy" "$work/k.npy"
        at=$(awk -v r="$RANDOM" -v long="$long" 'BEGIN { print r / 32768 * long / 1e9 }')
        run_and_kill "$at" "$@" --output "$work/k.npy" 2>/dev/null
        if cmp -s "$work/k.npy" "$work/old.npy"; then
            n_old=$((n_old + 1))
        elif cmp -s "$work/k.npy" "$work/new.npy"; then
            n_new=$((n_new + 1))
        else
            fail "killed after $at s, $* leaves a file that is neither the old nor the new one"
        fi
    done
    expect_exit 0 "$@" --output "$work/k.npy"
    cmp "$work/k.npy" "$work/new.npy" || fail 'the next run writes the file'
    [[ ! -e $work/k.npy.part ]] || fail 'the next run takes what was left away'
    printf '%s: %d times the old file, %d times the new one\n' "$*" "$n_old" "$n_new"
}

expect_exit 0 field make 100 "$work/old.npy"
kill_often "${arguments[@]}"
[[ -z $mpiexec ]] || kill_often "${arguments[@]}" --ranks 2
finish
