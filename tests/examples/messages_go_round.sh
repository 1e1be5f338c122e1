#!/usr/bin/env bash
# The examples whose threads send messages compute what plain loops do, in place and within a limit, and
# refuse what they cannot run on.
# shellcheck source-path=SCRIPTDIR source=support.bash
. "$(dirname "${BASH_SOURCE[0]}")/support.bash"

for device in host 'host(threads=1)' 'host(memory=64MiB)' host,host 'host(memory=64MiB),host,host'; do
    for bytes in 0 1 8 4096 4097 100000; do
        run_checked pingpong --bytes "$bytes" --rounds 20 --device "$device"
        expect 'max_error == 0'
        expect "n == $bytes"
    done
    for teams in 1 2 3 5; do
        run_checked cannon --n $((teams * 17)) --teams "$teams" --device "$device" --repeat 2
        expect 'max_error == 0'
    done
    for n in 1 2 77; do
        run_checked mandelbrot --n "$n" --device "$device" --repeat 2
        run_checked nbody --n "$n" --steps 5 --device "$device" --repeat 2
    done
done
expect_exit 0 mandelbrot --n 50 --output "$work/image.npy"
expect_exit 0 cannon --n 4096 --teams 8 --plan --device cuda:0 --limit 1GiB --json
expect 'kernels == 1'
expect_refusal 3 'run all at once' cannon --n 512 --limit 1MiB
expect_refusal 2 'does not divide' cannon --n 10 --teams 3
run_checked nbody --n 90 --steps 3 --device host,host --share 'weighted(1,2)'
run_checked mandelbrot --n 60 --device host,host
expect 'kernels == 2'
expect_refusal 2 "unknown option '--input'" pingpong --input "$work/image.npy"
finish
