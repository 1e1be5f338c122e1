#!/usr/bin/env bash
# Under many limits, strategies and numbers of buffers each example equals a plain loop, within the
# limit and near the least traffic.
# shellcheck source-path=SCRIPTDIR source=support.bash
. "$(dirname "${BASH_SOURCE[0]}")/support.bash"

for limit in $(some 1KiB 10000B 64KiB 1MiB 1GiB); do
    run_limited vector_add --n 100003 --limit "$limit"
done
for limit in $(some 4KiB 64KiB 300KiB 64MiB); do
    run_limited jacobi --n 173 --steps 7 --limit "$limit"
done
for limit in $(some 32KiB 300KiB 64MiB); do
    run_limited jacobi3d --n 37 --steps 5 --limit "$limit"
done
for steps_per_pass in $(some 1 2 5 1000 auto); do
    run_limited jacobi --n 173 --steps 13 --limit 64KiB --steps-per-pass "$steps_per_pass"
    run_limited jacobi3d --n 37 --steps 6 --limit 100KiB --steps-per-pass "$steps_per_pass"
    run_checked jacobi --n 173 --steps 8 --steps-per-pass "$steps_per_pass" --repeat 2
done
for limit in $(some 4KiB 100000B 64MiB); do
    run_limited matrix_add --n 173 --limit "$limit" --repeat 2
done
for limit in $(some 64KiB 100000B 1MiB 64MiB); do
    run_limited matmul --n 157 --limit "$limit"
    run_limited matmul --n 157 --limit "$limit" --split-k off --block 1x16
done
for kernel in plain blas auto; do
    run_limited matmul --n 61 --limit 16KiB --kernel "$kernel"
    run_limited matmul --n 61 --limit 16KiB --kernel "$kernel" --split-k off
done
for graph in $(some rmat uniform grid); do
    for limit in $(some 64KiB 100000B 64MiB); do
        run_limited apsp --graph "$graph" --scale 8 --sources 50 --limit "$limit" --repeat 2
        run_limited apsp --graph "$graph" --scale 8 --sources 3 --limit "$limit" --kernel crauser
    done
    for kernel in block crauser; do
        run_checked apsp --graph "$graph" --scale 7 --sources 20 --kernel "$kernel"
        expect 'h2d_bytes + d2h_bytes == 0'
        expect_exit 0 apsp --graph "$graph" --scale 7 --seed 5 --kernel "$kernel" \
            --output "$work/$kernel.npy"
    done
    cmp "$work/block.npy" "$work/crauser.npy" || fail "$graph: both kernels find the same paths"
done
run_checked apsp --scale 1 --sources 2
expect 'vertices == 2'
run_checked apsp --graph uniform --scale 6 --degree 1 --sources 64
expect 'arcs == 64'
run_checked apsp --graph grid --scale 5
expect 'arcs == 2 * (4 * 7 + 3 * 8)'

# A file's graph, with zeros, arcs to itself and twice, vertices without arcs, and none that is reached.
printf '%s\n' 'c small' 'p sp 6 7' 'a 1 2 0' 'a 2 3 7' 'a 1 3 9' 'a 1 3 8' 'a 3 3 1' 'c end' 'a 3 4 0' \
    'a 5 1 2147483630' >"$work/small.gr"
for kernel in block crauser; do
    run_checked apsp --graph "$work/small.gr" --kernel "$kernel" --output "$work/small.npy"
    expect 'sources == 6'
    expect 'vertices == 6'
    distances=$(tail -c 144 "$work/small.npy" | head -c 24 | od -An -t d4 | tr -s ' ')
    [[ $distances == *' 0 0 7 7'*' 2147483647 2147483647'* ]] ||
        fail "$kernel: the first row of the file is$distances"
done

# Two passes over the vector, while a column fits twice; one where all of it fits.
for limit in $(some 16KiB 64KiB 100000B); do
    run_checked walsh --n 65536 --limit "$limit"
    expect 'h2d_bytes == 2 * 4 * 65536'
    expect 'd2h_bytes == 2 * 4 * 65536'
    expect "peak_device_bytes <= limit_bytes"
done
run_checked walsh --n 65536 --limit 256KiB
expect 'h2d_bytes == 4 * 65536'
for n in $(some 2 4 8 512 32768); do
    run_checked walsh --n "$n" --limit 2KiB
    run_checked walsh --n "$n" --repeat 2
done
for strategy in $(some min-time min-traffic min-kernels paper); do
    run_limited vector_add --n 10007 --limit 16KiB --strategy "$strategy"
    run_limited jacobi --n 64 --steps 3 --limit 16KiB --strategy "$strategy"
    run_limited jacobi3d --n 20 --steps 3 --limit 32KiB --strategy "$strategy"
    run_checked walsh --n 4096 --limit 4KiB --strategy "$strategy"
    run_limited matmul --n 64 --limit 16KiB --strategy "$strategy"
done
for buffers in $(some 1 2 3 auto); do
    run_limited vector_add --n 10007 --limit 16KiB --buffers "$buffers"
    run_limited jacobi --n 64 --steps 4 --limit 16KiB --buffers "$buffers"
    run_limited jacobi3d --n 20 --steps 4 --limit 48KiB --buffers "$buffers"
    run_limited matmul --n 64 --limit 16KiB --buffers "$buffers"
done
for example in vector_add matrix_add matmul 'jacobi --steps 5' 'jacobi3d --steps 2'; do
    # shellcheck disable=SC2086 # an example and its options
    run_checked $example --n 100
    expect 'limit_bytes == 0'
    expect 'h2d_bytes + d2h_bytes == 0'
done
run_checked jacobi --n 3 --steps 1 --steps-per-pass 1
run_checked jacobi3d --n 3 --steps 1 --steps-per-pass 1
run_checked vector_add --n 1
run_checked matrix_add --n 1
run_checked matmul --n 1
run_limited vector_add --n 5000 --device 'host(threads=1,memory=8KiB)' --repeat 3
finish
