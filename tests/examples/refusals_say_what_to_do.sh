#!/usr/bin/env bash
# Wrong usage exits with 2, what does not fit with 3; both say what is wrong, on stderr alone.
# shellcheck source-path=SCRIPTDIR source=support.bash
. "$(dirname "${BASH_SOURCE[0]}")/support.bash"

expect_refusal 2 'unknown option' vector_add --bogus
expect_refusal 2 'unexpected argument' vector_add 12
expect_refusal 2 'expects a whole number' vector_add --n abc
expect_refusal 2 'expects a whole number' vector_add --n
expect_refusal 2 'expects a whole number' vector_add --n -5
expect_refusal 2 'expects a whole number' vector_add --n 99999999999999999999
expect_refusal 2 'at least 3' jacobi --n 2
expect_refusal 2 'at least 3' jacobi3d --n 2
expect_refusal 2 'power of two' walsh --n 1000
expect_refusal 2 'not a size' vector_add --limit big
expect_refusal 2 '64MiB?' vector_add --limit 64
expect_refusal 2 '64MiB?' jacobi --device 'host(memory=64)'
expect_refusal 2 '64MiB?' matmul --plan --device 'cuda:0(memory=64)'
expect_refusal 2 'expects 1, 2, 3 or auto' vector_add --buffers 4
expect_refusal 2 'takes no value' vector_add --check=yes
expect_refusal 2 'both give a memory limit' vector_add --device 'host(memory=1MiB)' --limit 1MiB
expect_refusal 2 'is not a size' vector_add --device 'host(memory=lots)'
for example in vector_add 'jacobi --plan'; do
    # shellcheck disable=SC2086 # an example and its options
    expect_refusal 2 "the memory limit ''" $example --device 'host(memory=)'
done
expect_refusal 2 "the memory limit ''" matmul --plan --device 'cuda:0(memory=)'
expect_refusal 2 'both give a memory limit' vector_add --device 'host(memory=)' --limit 1MiB
expect_refusal 2 'unknown device' vector_add --device gpu
expect_refusal 2 'min-kernels' vector_add --n 10 --strategy best
expect_refusal 2 'as many numbers' vector_add --n 10 --block 2x2
expect_refusal 2 'at least 1, or auto' jacobi --steps-per-pass 0
expect_refusal 2 'too many' jacobi --steps 3000000000 --plan
expect_refusal 2 'unknown option' vector_add --steps 3
expect_refusal 2 'unknown option' jacobi --split-k off
expect_refusal 2 'auto or off' matmul --split-k on
expect_refusal 2 'cannot be written' vector_add --n 10 --trace "$work/no/such/folder.json"
expect_refusal 2 'No such file' vector_add --input "$work/missing.npy"
expect_refusal 2 'cannot create' vector_add --n 10 --output "$work/no/such/folder.npy"
expect_refusal 2 'of host memory' vector_add --n 1000000000000000
expect_refusal 2 'pageable or pinned' vector_add --memory fast
expect_refusal 2 'cuda:K' vector_add --n 10 --memory pinned
expect_refusal 2 'plain, blas or auto' matmul --kernel fast
expect_refusal 2 'unknown option' jacobi --kernel plain
expect_refusal 2 'cuda:K' matmul --n 10 --tf32
expect_refusal 2 'without --kernel plain' matmul --n 10 --tf32 --kernel plain --device cuda:0 --plan --limit 1MiB
expect_refusal 2 'unknown device' vector_add --device cudax --plan --limit 1MiB
expect_refusal 2 'cuda:4096' vector_add --n 10 --device cuda:4096
has_gpu || for example in 'vector_add --n 10' 'matrix_add --n 10' 'jacobi --n 10' 'jacobi3d --n 10' \
    'matmul --n 10' 'apsp --scale 3' 'spmv --rows 10'; do
    # shellcheck disable=SC2086 # an example and its options
    expect_refusal 2 'use host' $example --device cuda:0
done
# Graphs: what is wrong in a file is told with its line and the value.
expect_refusal 2 'unknown option' apsp --n 10
expect_refusal 2 'unknown option' vector_add --graph grid
expect_refusal 2 'rmat, uniform and grid' apsp --graph ring
expect_refusal 2 'crauser or block' apsp --kernel plain
expect_refusal 2 'at most 2^30' apsp --scale 31
expect_refusal 2 'more than the graph has vertices, 8' apsp --scale 3 --sources 9
expect_refusal 2 'No such file' apsp --graph "$work/missing.gr"
expect_refusal 2 'of host memory' apsp --scale 30 --degree 100000000

# Writes a file of lines, and expects its refusal: TEXT LINE...
expect_bad_graph() {
    local text=$1
    shift
    printf '%s\n' "$@" >"$work/bad.gr"
    expect_refusal 2 "bad.gr: $text" apsp --graph "$work/bad.gr" --output "$work/bad.npy"
    [[ ! -e $work/bad.npy ]] || fail "$text: a file was written"
}
expect_bad_graph 'line 3: the weight is -7;' 'p sp 3 2' 'a 1 2 5' 'a 2 3 -7'
expect_bad_graph 'line 3: the weight is 2147483647;' 'p sp 3 2' 'a 1 2 5' 'a 2 3 2147483647'
expect_bad_graph 'line 2: the weight is 5.5;' 'p sp 3 2' 'a 1 2 5.5' 'a 2 3 1'
expect_bad_graph 'line 2: the weight is nothing;' 'p sp 3 2' 'a 1 2'
expect_bad_graph "line 2: '9' is one word too many" 'p sp 3 2' 'a 1 2 5 9'
expect_bad_graph 'line 2: the vertex that the arc enters is 4; it must be from 1 to 3' 'p sp 3 2' \
    'a 1 4 5'
expect_bad_graph 'line 3: the vertex that the arc leaves is 0;' 'c a' 'p sp 3 2' 'a 0 2 5'
expect_bad_graph 'line 4: the weight 2147483646 of the arc from 2 to 3 makes a path from 1 of 2147483647' \
    'p sp 3 2' 'c' 'a 1 2 1' 'a 2 3 2147483646'
expect_bad_graph 'it ends after line 2 with 1 arcs; the line p says 2' 'p sp 3 2' 'a 1 2 5'
expect_bad_graph 'line 3: one arc more than the 1' 'p sp 3 1' 'a 1 2 5' 'a 1 2 5'
expect_bad_graph 'line 1: an arc before the line' 'a 1 2 5'
expect_bad_graph 'line 2: a second line p' 'p sp 3 1' 'p sp 3 1'
expect_bad_graph "line 1: the problem is 'max'" 'p max 3 1'
expect_bad_graph 'line 1: the number of vertices is 0;' 'p sp 0 0'
expect_bad_graph "line 2: it begins with 'e'" 'p sp 3 1' 'e 1 2 5'
expect_bad_graph 'it ends after line 1 without a line' 'c nothing'
expect_refusal 2 'leave it out' apsp --graph "$work/bad.gr" --scale 3

# Matrices: the same.
expect_refusal 2 'unknown option' spmv --n 10
expect_refusal 2 'unknown option' apsp --matrix A.mtx
expect_refusal 2 'band, uniform and power' spmv --kind full
expect_refusal 2 'auto, rows or entries' spmv --kernel plain
expect_refusal 2 'at least 1' spmv --rows 0
expect_refusal 2 'is more than 2147483647' spmv --rows 3000000000
expect_refusal 2 'is more than 262144' spmv --rows 10 --degree 300000
expect_refusal 2 'No such file' spmv --matrix "$work/missing.mtx"
expect_exit 0 field make 7x1 "$work/seven.npy" f32
expect_refusal 2 '2 dimensions' spmv --rows 7 --input "$work/seven.npy"

# Writes a file of lines after its banner, and expects its refusal: TEXT BANNER LINE...
expect_bad_matrix() {
    local text=$1 banner=$2
    shift 2
    printf '%s\n' "%%MatrixMarket matrix $banner" "$@" >"$work/bad.mtx"
    expect_refusal 2 "bad.mtx: $text" spmv --matrix "$work/bad.mtx" --output "$work/bad.npy"
    [[ ! -e $work/bad.npy ]] || fail "$text: a file was written"
}
expect_bad_matrix 'line 1: the format is array; it must be coordinate' 'array real general'
expect_bad_matrix 'line 1: the field is complex; it must be real, integer or pattern' \
    'coordinate complex general'
expect_bad_matrix 'line 1: the symmetry is hermitian; it must be general or symmetric' \
    'coordinate real hermitian'
expect_bad_matrix "line 1: 'x' is one word too many" 'coordinate real general x'
expect_bad_matrix 'line 3: the value is nothing; it must be a finite number' 'coordinate real general' \
    '3 3 1' '1 1'
expect_bad_matrix 'line 3: the value is nan; it must be a finite number' 'coordinate real general' \
    '3 3 1' '1 1 nan'
expect_bad_matrix 'line 3: the value is 2.5; it must be a whole number' 'coordinate integer general' \
    '3 3 1' '1 1 2.5'
expect_bad_matrix "line 3: '5' is one word too many" 'coordinate pattern general' '3 3 1' '1 1 5'
expect_bad_matrix 'line 4: the row is 4; it must be from 1 to 3' 'coordinate pattern general' '3 5 1' '%' \
    '4 1'
expect_bad_matrix 'line 3: the column is 0; it must be from 1 to 5' 'coordinate pattern general' '3 5 1' \
    '1 0'
expect_bad_matrix 'line 4: the column is 3 in row 2;' 'coordinate pattern symmetric' '3 3 2' '2 1' '2 3'
expect_bad_matrix 'line 2: a symmetric matrix has as many columns as rows, not 3 and 4' \
    'coordinate real symmetric' '3 4 1'
expect_bad_matrix 'it ends after line 3 with 1 entries; it says 2' 'coordinate pattern general' '3 3 2' '1 1'
expect_bad_matrix 'line 4: one entry more than the 1' 'coordinate pattern general' '3 3 1' '1 1' '2 2'
expect_bad_matrix 'it ends after line 2 without a line' 'coordinate pattern general' '% 3 3 1'
expect_bad_matrix 'line 2: the number of rows is 0;' 'coordinate pattern general' '0 0 0'
printf '' >"$work/bad.mtx"
expect_refusal 2 'it is empty' spmv --matrix "$work/bad.mtx"
printf '3 3 1\n' >"$work/bad.mtx"
expect_refusal 2 'line 1: the first word is 3; it must be %%MatrixMarket' spmv --matrix "$work/bad.mtx"
expect_refusal 2 'leave it out' spmv --matrix "$work/bad.mtx" --rows 3
printf '%s\n' '%%MatrixMarket matrix coordinate real general' '1 1 1' '1 1 2' >"$work/general.mtx"
expect_refusal 2 'general.mtx: line 1: the matrix is general' cg --matrix "$work/general.mtx"
expect_refusal 2 'not symmetric; take band' cg --kind power
expect_refusal 2 'unknown option' cg --kernel rows
expect_refusal 2 'at least 1' cg --iterations 0
expect_refusal 3 'spmv_rows' spmv --rows 1000 --block 1000 --limit 1KiB
# Volumes, and options that streams have no use for.
expect_refusal 2 'from 1 to 1000' granulometry --sizes 0
expect_refusal 2 'from 1 to 1000' granulometry --sizes 1001
expect_refusal 2 'expects three numbers' granulometry --extents 5x5
expect_refusal 2 'expects three numbers' granulometry --extents 5x5x5x5
expect_refusal 2 'on or off' granulometry --overlap maybe
expect_refusal 2 'both give a size' granulometry --n 5 --extents 5x5x5
expect_refusal 2 '--share: ' granulometry --share equal
expect_refusal 2 '--block: ' granulometry --block 1x1x1
expect_refusal 2 '--buffers: ' granulometry --buffers 2
expect_refusal 2 '--trace: ' granulometry --trace "$work/trace.json"
expect_refusal 2 'same device' granulometry --n 8 --device host,host
expect_refusal 2 'unknown option' jacobi3d --sizes 3
expect_refusal 2 'are not run' granulometry --n 8 --sizes 2 --strategy paper
expect_refusal 2 'use best or paper' granulometry --n 8 --strategy min-time
expect_refusal 2 'exceed 64 bits' granulometry --extents 9000000000000x9000000000000x2 --plan
expect_refusal 3 'limit' granulometry --n 64 --limit 16B
printf 'twelve bytes' >"$work/twelve.raw"
expect_refusal 2 'say its extents by --extents' granulometry --input "$work/twelve.raw"
expect_refusal 2 'fewer bytes than the 13 of 1x1x13' granulometry --input "$work/twelve.raw" --extents 1x1x13
expect_refusal 2 'more bytes than the 8 of 2x2x2' granulometry --input "$work/twelve.raw" --extents 2x2x2
expect_refusal 2 'cannot open' granulometry --input "$work/missing.raw" --extents 2x2x2
expect_refusal 3 'round' apsp --scale 10 --limit 16KiB
expect_refusal 3 'limit' vector_add --n 100 --limit 8B --block 100
expect_refusal 3 'matmul' matmul --n 4096 --limit 1KiB --split-k off
expect_refusal 3 'matmul' matmul --n 4096 --limit 1KiB --split-k off --device cuda:0 --plan
finish
