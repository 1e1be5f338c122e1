#!/usr/bin/env bash
# On the first GPU, too, each example equals a plain loop under many limits, strategies, numbers of
# buffers, kinds of host memory and kernels.
# shellcheck source-path=SCRIPTDIR source=support.bash
. "$(dirname "${BASH_SOURCE[0]}")/support.bash"
has_gpu || { echo 'skipped: no GPU here'; exit 77; }

# Runs an example on the GPU within a limit: LIMIT EXAMPLE ARGUMENTS...
run_cuda() {
    local limit=$1
    shift
    run_limited "$@" --device "cuda:0(memory=$limit)"
}

for limit in 1MiB 10000000B 64MiB 1GiB; do
    for memory in pageable pinned; do
        run_cuda "$limit" vector_add --n 10000003 --memory "$memory" --repeat 2
        run_cuda "$limit" matrix_add --n 1731 --memory "$memory" --repeat 2
        run_cuda "$limit" jacobi --n 1731 --steps 7 --memory "$memory"
        run_cuda "$limit" jacobi3d --n 131 --steps 5 --memory "$memory"
        run_checked walsh --n 2097152 --memory "$memory" --device "cuda:0(memory=$limit)"
        run_cuda "$limit" matmul --n 1025 --memory "$memory"
    done
    for split in auto off; do
        run_cuda "$limit" matmul --n 257 --split-k "$split" --kernel plain
        run_cuda "$limit" matmul --n 1025 --split-k "$split" --kernel blas
    done
done
for graph in rmat uniform grid; do
    for limit in 4MiB 64MiB 1GiB; do
        run_cuda "$limit" apsp --graph "$graph" --scale 12 --sources 300
        run_cuda "$limit" apsp --graph "$graph" --scale 12 --sources 2 --kernel crauser
    done
    run_limited apsp --graph "$graph" --scale 13 --sources 500 --device cuda:0
    for streams in 1 4 auto; do
        run_checked apsp --graph "$graph" --scale 12 --sources 100 --kernel crauser --repeat 3 \
            --device "cuda:0(streams=$streams,memory=64MiB)"
    done
done
for kind in band uniform power; do
    for kernel in rows entries; do
        run_checked spmv --kind "$kind" --rows 100003 --kernel "$kernel" --device 'cuda:0(memory=4MiB)' --repeat 2
        run_checked spmv --kind "$kind" --rows 100003 --kernel "$kernel" --device cuda:0
    done
done
for strategy in min-time min-traffic min-kernels paper; do
    run_cuda 4MiB vector_add --n 3000001 --strategy "$strategy"
    run_cuda 4MiB jacobi --n 1025 --steps 3 --strategy "$strategy"
    run_cuda 4MiB matmul --n 1000 --strategy "$strategy"
done
for buffers in 1 2 3 auto; do
    run_cuda 4MiB vector_add --n 3000001 --buffers "$buffers"
    run_cuda 4MiB jacobi --n 1025 --steps 4 --buffers "$buffers"
    run_cuda 4MiB matmul --n 1000 --buffers "$buffers"
done
for steps_per_pass in 1 3 auto; do
    run_cuda 4MiB jacobi --n 1731 --steps 20 --steps-per-pass "$steps_per_pass"
    run_cuda 4MiB jacobi3d --n 131 --steps 20 --steps-per-pass "$steps_per_pass"
done
for example in vector_add matrix_add matmul 'matmul --split-k off' 'jacobi --steps 5'; do
    # shellcheck disable=SC2086 # an example and its options
    run_limited $example --n 1000 --device cuda:0
done
run_limited vector_add --n 1 --device cuda:0 --limit 1MiB
run_limited jacobi --n 3 --steps 1 --device cuda:0 --limit 1MiB
run_limited matmul --n 1 --device cuda:0 --limit 1MiB
run_cuda 4MiB jacobi --n 1025 --steps 3 --trace "$work/trace.json"
grep -q 'traceEvents' "$work/trace.json" || fail 'no trace was written'

# Files in and out, and the same bytes as on the host.
for type in f32 f64; do
    expect_exit 0 field make 700x900 "$work/plate.npy" "$type"
    expect_exit 0 jacobi --input "$work/plate.npy" --output "$work/host.npy" --steps 5
    run_cuda 2MiB jacobi --input "$work/plate.npy" --output "$work/cuda.npy" --steps 5
    cmp "$work/host.npy" "$work/cuda.npy" || fail "$type: the GPU's field is the host's"
done
for kernel in plain blas; do
    expect_exit 0 matmul --n 300 --output "$work/host.npy"
    run_cuda 1MiB matmul --n 300 --output "$work/cuda.npy" --kernel "$kernel"
    cmp "$work/host.npy" "$work/cuda.npy" || fail "$kernel: the GPU's product is the host's"
done
expect_exit 0 vector_add --n 1000003 --output "$work/z.npy"
run_cuda 1MiB vector_add --input "$work/z.npy" --input "$work/z.npy" --output "$work/zz.npy"
for device in cuda:0 'cuda:0(memory=64MiB)' 'cuda:0+host(threads=1)'; do
    [[ -x $bin/saliency ]] || break # built where FFTW is
    expect_exit 0 saliency --n 48 --device "$device" --repeat 2 --check --json
    expect 'max_error < 0.0001'
done
finish
