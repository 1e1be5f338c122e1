#!/usr/bin/env bash
# On several devices of one process each example computes what it does on one, bit for bit.
# shellcheck source-path=SCRIPTDIR source=support.bash
. "$(dirname "${BASH_SOURCE[0]}")/support.bash"

for devices in host,host 'host(memory=64KiB),host(memory=64KiB)' \
    'host(threads=1),host(memory=100KiB),host(memory=1MiB,threads=2)'; do
    run_same vector_add --n 100003 --device "$devices" --repeat 2
    run_same matrix_add --n 173 --device "$devices" --repeat 2
    for steps in 1 6; do
        run_same jacobi --n 117 --steps "$steps" --device "$devices" --repeat 2
        run_same jacobi3d --n 29 --steps "$steps" --device "$devices"
    done
    run_same walsh --n 8192 --device "$devices" --repeat 2
    run_same matmul --n 157 --device "$devices" --repeat 2
    run_same apsp --scale 8 --sources 100 --device "$devices" --repeat 2
    run_same apsp --graph grid --scale 6 --sources 5 --kernel crauser --device "$devices"
    run_same matmul --n 157 --split-k off --device "$devices"
done
expect 'devices == 3'
expect 'ranks == 1'
[[ $(tail -n 1 "$work/out") == *'"device": "host(threads=1),host(memory=100KiB),host'* ]] ||
    fail 'the device is the list'

# --limit is each device's, and so is what is shown of it, beside the largest peak; the other figures are
# those of all.
run_limited jacobi --n 173 --steps 5 --device host,host,host --limit 64KiB
expect 'limit_bytes == 65536'
run_limited vector_add --n 100003 --device 'host(threads=1),host' --limit 64KiB
expect 'limit_bytes == 65536'
expect 'h2d_bytes == 2 * 4 * 100003'
expect_exit 0 vector_add --n 100003 --device 'host(memory=64KiB),host(memory=64KiB)'
grep -q 'limit *64 KiB' "$work/out" || fail 'the limit is that of one device'
run_limited vector_add --n 100003 --device 'host(memory=64KiB),host(memory=96KiB)'
expect 'limit_bytes == 96 * 1024'

# Files, arrays with fewer elements than there are devices, and plans, which are for one device.
for type in f32 f64; do
    expect_exit 0 field make 70x90 "$work/plate.npy" "$type"
    run_same jacobi --input "$work/plate.npy" --steps 5 --device host,host --limit 64KiB
done
run_same vector_add --n 1 --device host,host
run_same jacobi --n 3 --steps 2 --device host,host,host
run_same matmul --n 2 --device host,host,host
expect_exit 0 jacobi --n 1000 --device host,host --limit 64KiB --plan --json
expect 'devices == 2'
expect 'kernels > 1'
run_checked jacobi --n 64 --steps 2 --device host,host --limit 64KiB --trace "$work/trace.json"
grep -q 'traceEvents' "$work/trace.json" || fail 'no trace was written'

# Unequal shares.
for share in equal 'equal(node)' weighted 'weighted(5,1)' 'weighted(0,1)' 'self(9)' 'self(3,40)' guided pool; do
    for devices in host,host 'host(memory=64KiB),host'; do
        run_same vector_add --n 100003 --device "$devices" --share "$share"
        run_same jacobi --n 117 --steps 5 --device "$devices" --share "$share"
        run_same matmul --n 97 --device "$devices" --share "$share"
        run_same apsp --graph uniform --scale 7 --sources 90 --device "$devices" --share "$share"
    done
done
expect_refusal 2 'policy "fair": give one of equal, ' vector_add --n 10 --device host,host --share fair
expect_refusal 2 'policy "fair": give one of equal, ' vector_add --n 10 --device host --share fair
expect_refusal 2 '--share expects' vector_add --n 10 --device host,host --share ''
run_same vector_add --n 1003 --device 'host+host(memory=64KiB),host'
expect_refusal 2 '3 numbers, for 2 units' vector_add --n 10 --device host,host --share 'weighted(1,2,3)'
expect_refusal 2 'unknown device' vector_add --n 10 --device host,gpu
expect_refusal 2 'device' vector_add --n 10 --device host,,host
expect_refusal 2 'device' vector_add --n 10 --device host,
expect_refusal 2 'more than 16 devices' vector_add --n 10 --device "host$(printf ',host%.0s' {1..16})"
expect_refusal 2 'both give a memory limit' vector_add --device 'host,host(memory=1MiB)' --limit 1MiB
expect_refusal 2 'is not a size' vector_add --n 10 --device 'host,host(memory=lots)'
expect_refusal 3 'limit' matmul --n 4096 --split-k off --device host,host --limit 1KiB
finish
