#!/usr/bin/env bash
# On several GPUs, on one as if it were two, and on a GPU and the host, each example computes what the
# host does, bit for bit; cuBLAS works on all of them at the same time.
# shellcheck source-path=SCRIPTDIR source=support.bash
. "$(dirname "${BASH_SOURCE[0]}")/support.bash"
has_gpu || { echo 'skipped: no GPU here'; exit 77; }

pairs=('cuda:0(memory=64MiB),cuda:0(memory=64MiB)' 'cuda:0(memory=64MiB),host')
if "$bin/../tools/polytile" devices | grep '^cuda:1' >/dev/null; then
    pairs+=('cuda:0,cuda:1' 'cuda:0(memory=4MiB),cuda:1(memory=64MiB)')
fi
for devices in "${pairs[@]}"; do
    for memory in pageable pinned; do
        run_same vector_add --n 3000001 --device "$devices" --memory "$memory" --repeat 2
    done
    run_same matrix_add --n 1731 --device "$devices" --memory pinned
    run_same jacobi --n 1731 --steps 7 --device "$devices" --memory pinned --repeat 2
    run_same apsp --scale 11 --sources 300 --device "$devices"
    run_same jacobi3d --n 131 --steps 5 --device "$devices" --memory pinned
    for split in auto off; do
        for kernel in plain blas; do
            run_same matmul --n 1025 --split-k "$split" --kernel "$kernel" --device "$devices" \
                --repeat 2
        done
    done
done
finish
