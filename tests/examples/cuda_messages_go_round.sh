#!/usr/bin/env bash
# On the first GPU, too, the examples whose threads send messages compute what plain loops do, refuse more
# slots than it holds, and name who waits for whom.
# shellcheck source-path=SCRIPTDIR source=support.bash
. "$(dirname "${BASH_SOURCE[0]}")/support.bash"
has_gpu || { echo 'skipped: no GPU here'; exit 77; }

for device in cuda:0 'cuda:0(memory=64MiB)'; do
    for bytes in 0 1 24 25 32 33 4096 4097 100000 3000001; do
        run_checked pingpong --bytes "$bytes" --rounds 20 --device "$device"
        expect 'max_error == 0'
    done
    for teams in 1 2 3 5 11; do
        run_checked cannon --n $((teams * 17)) --teams "$teams" --device "$device" --repeat 2
        expect 'max_error == 0'
    done
    for n in 1 2 77 300; do
        run_checked mandelbrot --n "$n" --device "$device" --repeat 2
        run_checked nbody --n "$n" --steps 5 --device "$device" --repeat 2
    done
done
# CPU and GPU in one launch.
for device in cuda:0,host 'host,cuda:0(memory=64MiB)'; do
    for bytes in 0 1 24 25 32 33 4096 4097 100000 3000001; do
        run_checked pingpong --bytes "$bytes" --rounds 20 --device "$device"
        expect 'kernels == 2'
        expect 'max_error == 0'
    done
    run_checked cannon --n 102 --teams 6 --device "$device" --repeat 2
    run_checked nbody --n 300 --steps 5 --device "$device" --repeat 2
    run_checked mandelbrot --n 77 --device "$device" --repeat 2
done
expect_refusal 3 'cuda:0 holds' cannon --n 1000 --teams 100 --device cuda:0
finish
