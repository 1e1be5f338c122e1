#!/usr/bin/env bash
# --plan answers at any size, without arrays and without the device's memory.
# shellcheck source-path=SCRIPTDIR source=support.bash
. "$(dirname "${BASH_SOURCE[0]}")/support.bash"

expect_plan() {
    expect_exit 0 "$@" --plan --json
    expect 'kernels > 1'
    expect 'peak_device_bytes <= limit_bytes'
    expect 'h2d_bytes + d2h_bytes >= lower_bound_bytes'
    [[ -z $(value total_s) ]] || fail "$*: a plan has no running time"
}

expect_plan vector_add --n 1000000000000 --limit 64GiB
[[ $(value device) == 'host(memory=64GiB)' ]] || fail 'the limit is in the device text'
expect_plan jacobi --n 1000000 --steps 10 --limit 16GiB
expect 'steps == 10'
expect_plan walsh --n $((1 << 40)) --limit 64GiB
expect_plan jacobi3d --n 10000 --steps 10 --limit 64GiB
expect 'steps == 10'
expect_plan matmul --n 200000 --limit 64GiB --split-k auto
expect_plan matmul --n 200000 --limit 64GiB --split-k off
expect_plan apsp --scale 30 --degree 16 --sources 1000000 --limit 512GiB
expect 'vertices == 1073741824'
expect_plan apsp --scale 20 --sources 1000 --limit 1GiB --kernel crauser
printf '%s\n' 'p sp 1000000 100000000' 'a 1' >"$work/large.gr"
expect_plan apsp --graph "$work/large.gr" --limit 1GiB
expect 'arcs == 100000000'
expect_plan spmv --rows 100000 --limit 1MiB
expect 'entries == 1699928'
expect_plan spmv --rows 10000 --kind power --limit 64KiB
expect_plan cg --rows 100000 --limit 4MiB
expect 'matrix_bytes == 12 * 1699928 + 8 * 100001'
expect_plan vector_add --n 67107840 --device 'host(memory=64MiB)' --strategy min-kernels --buffers 1
expect 'kernels == 12'
expect 'limit_bytes == 67108864'
expect_exit 0 vector_add --n 10 --plan --output "$work/none.npy"
[[ ! -e $work/none.npy ]] || fail '--plan creates no output file'
expect_refusal 2 '2^61' vector_add --n 9000000000000000000 --plan
expect_plan granulometry --n 4096 --limit 512GiB
expect 'sizes == 40'
expect 'lower_bound_bytes == 4096 * 4096 * 4096'
expect_plan granulometry --n 512 --device cuda:0,cuda:1 --limit 16GiB
expect 'devices == 2'

# The lower bound is the whole run's, field there and back once, whether it is planned or run.
expect_plan jacobi --n 600 --steps 6 --limit 256KiB
planned=$(value lower_bound_bytes)
expect 'lower_bound_bytes > 2 * 598 * 598 * 4'
expect 'lower_bound_bytes <= 2 * 600 * 600 * 4'
expect_exit 0 jacobi --n 600 --steps 6 --limit 256KiB --json
expect "lower_bound_bytes == $planned"
expect 'h2d_bytes + d2h_bytes >= lower_bound_bytes'

# A GPU need not be here to plan for it, but its limit must be said.
for example in vector_add matrix_add 'jacobi --steps 3' 'jacobi3d --steps 3' matmul 'matmul --split-k off --kernel plain' \
    'apsp --sources 1000' spmv; do
    # shellcheck disable=SC2086 # an example and its options
    expect_plan $example --device cuda:0 --limit 16MiB
    expect 'limit_bytes == 16777216'
    [[ $(value device) == 'cuda:0(memory=16MiB)' ]] || fail 'the GPU is in the device text'
done
expect_plan jacobi --device 'cuda:7(memory=16MiB,threads=2)' --memory pinned
expect_refusal 2 'give --limit' vector_add --device cuda:0 --plan
finish
