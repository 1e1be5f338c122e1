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

# Sparse matrices: of one row, of a prime number of rows, with one entry a row, wider than the rows are many.
for kind in band uniform power; do
    for kernel in rows entries; do
        for limit in $(some 16KiB 100000B 64MiB); do
            run_checked spmv --kind "$kind" --rows 997 --kernel "$kernel" --limit "$limit" --repeat 2
            expect 'peak_device_bytes <= limit_bytes'
            expect 'entries <= 17 * 997'
        done
        run_checked spmv --kind "$kind" --rows 997 --kernel "$kernel"
        expect 'h2d_bytes + d2h_bytes == 0'
        run_checked spmv --kind "$kind" --rows 97 --degree 500 --seed 4 --kernel "$kernel" --limit 512KiB
    done
    run_checked spmv --kind "$kind" --rows 20011 --limit 256KiB
done
run_checked spmv --rows 1 --limit 4KiB
expect 'entries == 1'
run_checked spmv --rows 50 --degree 1 --kind uniform --limit 4KiB
expect 'longest_row == 1'

# Its files: comments, entries in any order and twice, rows without any; a symmetric one has both halves.
printf '%s\n' '%%MatrixMarket matrix coordinate real general' '% a' '' '4 3 5' '4 1 0.5' '1 3 2' '% b' \
    '1 1 -1e1' '1 3 4' '4 3 1' >"$work/general.mtx"
printf '%s\n' '%%matrixmarket MATRIX coordinate integer Symmetric' '3 3 4' '1 1 2' '2 1 -1' '3 2 7' \
    '3 3 5' >"$work/symmetric.mtx"
printf '%s\n' '%%MatrixMarket matrix coordinate pattern general' '1 5 2' '1 2' '1 5' >"$work/pattern.mtx"
printf '%s\n' '%%MatrixMarket matrix coordinate real general' '3 2 0' >"$work/empty.mtx"
for kernel in rows entries; do
    run_checked spmv --matrix "$work/general.mtx" --kernel "$kernel" --limit 4KiB
    expect 'n == 4'
    expect 'entries == 5'
    expect 'longest_row == 3'
    run_checked spmv --matrix "$work/symmetric.mtx" --kernel "$kernel" --output "$work/y.npy"
    expect 'entries == 6'
    run_checked spmv --matrix "$work/pattern.mtx" --kernel "$kernel"
    expect 'longest_row == 2'
done
run_checked spmv --matrix "$work/empty.mtx"
expect_exit 0 spmv --matrix "$work/symmetric.mtx" --input "$work/y.npy" --output "$work/twice.npy" --limit 4KiB
expect_exit 0 spmv --matrix "$work/symmetric.mtx" --input "$work/y.npy" --output "$work/in_place.npy"
cmp "$work/twice.npy" "$work/in_place.npy" || fail 'a product of a product is the same in place'
expect_exit 0 field make 64x1 "$work/column.npy" f64
expect_refusal 2 '2 dimensions' spmv --rows 64 --input "$work/column.npy"

# Conjugate gradients, nearly exact. With all vectors and a quarter of the matrix in the limit, little more moves than
# what of the matrix cannot stay. A diagonal is solved by one iteration; what follows changes nothing.
for limit in 100000B 1MiB 64MiB; do
    expect_exit 0 cg --rows 997 --iterations 12 --limit "$limit" --check --json --repeat 2
    expect 'peak_device_bytes <= limit_bytes'
done
for rows in 1 2 97; do
    expect_exit 0 cg --rows "$rows" --degree 6 --iterations 60 --limit 100000B --check --json
    expect_exit 0 cg --rows "$rows" --degree 6 --iterations 60 --check --json
    expect 'h2d_bytes + d2h_bytes == 0'
done
expect_exit 0 cg --rows 20000 --iterations 20 --check --json --limit 1699786B
expect 'limit_bytes - vector_bytes < 0.2501 * matrix_bytes'
expect 'h2d_bytes + d2h_bytes <= 1.05 * least_bytes'
printf '%s\n' '%%MatrixMarket matrix coordinate integer symmetric' '2 2 2' '1 1 4' '2 2 4' >"$work/diagonal.mtx"
expect_exit 0 cg --matrix "$work/diagonal.mtx" --iterations 9 --check --json
expect 'max_error == 0'

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

# Openings on one unit and on several, whatever the size and the extents; kernels: those of one volume.
for size in '--n 1' '--n 5' '--n 31' '--extents 7x40x12' '--extents 1x1x9'; do
    for device in host 'host(memory=1MiB)' 'host(threads=1)+host(memory=2MiB,threads=2)'; do
        # shellcheck disable=SC2086 # a size is two words
        run_checked granulometry $size --sizes 4 --device "$device" --repeat 3
        expect 'kernels == 1 + 4 * 5 + 4'
        expect 'sizes == 4'
        expect 'frames == 3'
        expect 'measured_period_s > 0'
    done
done
run_limited granulometry --n 20 --sizes 3 --limit 64KiB --overlap off --repeat 2
expect 'lower_bound_bytes == 8000'
run_limited granulometry --n 20 --sizes 12 --limit 40KiB
run_checked granulometry --n 40 --sizes 2 --seed 7 --output "$work/counts.npy"
expect_exit 0 granulometry --n 40 --sizes 2 --seed 7
counts=$(tail -c 24 "$work/counts.npy" | od -An -t d8 | tr -s ' \n' ' ')
table=$(awk '$1 ~ /^[0-9]+$/ { printf " %s", $2 }' "$work/out")
[[ $counts == "$table " || $counts == "$table" ]] || fail "the file has$counts, the table$table"
finish
