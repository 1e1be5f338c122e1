#!/usr/bin/env bash
# NumPy files go in and out of the examples; foreign and unfitting ones are refused.
# shellcheck source-path=SCRIPTDIR source=support.bash
. "$(dirname "${BASH_SOURCE[0]}")/support.bash"

for type in f32 f64; do
    expect_exit 0 field make 37x53 "$work/plate.npy" "$type"
    for steps in 1 2 5; do
        expect_exit 0 jacobi --input "$work/plate.npy" --output "$work/after$steps.npy" \
            --steps "$steps" --limit 8KiB --check --json
        expect 'max_error == 0'
        expect 'n == 37'
        [[ $(value type) == "$type" ]] || fail "jacobi keeps the type $type"
    done
    expect_exit 0 jacobi --input "$work/after2.npy" --output "$work/again.npy" --steps 3 --check
    cmp "$work/after5.npy" "$work/again.npy" || fail '2 and 3 steps are 5 steps'
    expect_exit 0 field draw "$work/picture.svg" "$work/plate.npy" "$work/after5.npy"
    head -c 4 "$work/picture.svg" | grep -q '<svg' || fail 'the picture is an SVG'
done

# A field of three dimensions has the bytes of one of two, under another header of the same length.
for type in f32 f64; do
    expect_exit 0 field make 30x40 "$work/plate.npy" "$type"
    LC_ALL=C sed '1s/(30, 40), }  /(5, 6, 40), }/' "$work/plate.npy" >"$work/body.npy"
    expect_exit 0 jacobi3d --input "$work/body.npy" --output "$work/after2.npy" --steps 2 \
        --limit 16KiB --check --json
    expect 'max_error == 0'
    expect 'n == 5'
    [[ $(value type) == "$type" ]] || fail "jacobi3d keeps the type $type"
    expect_exit 0 jacobi3d --input "$work/after2.npy" --output "$work/again.npy" --steps 3 --check
    expect_exit 0 jacobi3d --input "$work/body.npy" --output "$work/after5.npy" --steps 5
    cmp "$work/after5.npy" "$work/again.npy" || fail '2 and 3 steps are 5 steps'
done
leftovers=("$work"/*scratch* "$work"/*.part)
[[ ! -e ${leftovers[0]} && ! -e ${leftovers[1]} ]] || fail 'no scratch file is left over'

expect_exit 0 matmul --n 40 --output "$work/c.npy"
expect_exit 0 matmul --input "$work/c.npy" --input "$work/c.npy" --output "$work/d.npy" \
    --limit 8KiB --check --json
expect 'n == 40'
expect_exit 0 vector_add --n 1000 --output "$work/z.npy"
expect_exit 0 vector_add --input "$work/z.npy" --input "$work/z.npy" --output "$work/zz.npy" \
    --limit 1KiB --check --json
expect 'max_error == 0'
expect 'n == 1000'

expect_exit 0 matrix_add --input "$work/c.npy" --input "$work/d.npy" --output "$work/e.npy" \
    --limit 8KiB --check --json
expect 'max_error == 0'
expect 'n == 40'

cp "$work/after5.npy" "$work/kept.npy"
expect_refusal 3 'would do' jacobi --n 40 --limit 64B --output "$work/after5.npy"
cmp "$work/after5.npy" "$work/kept.npy" || fail 'a run that is refused leaves the old output'
[[ ! -e $work/after5.npy.part ]] || fail 'a run that is refused leaves no part of an output'

# A volume as bytes, and the same under a header.
for _ in {1..40}; do printf '\0\1\2\0\377\1\0\1\0\1\1\1'; done >"$work/volume.raw"
header="{'descr': '|u1', 'fortran_order': False, 'shape': (8, 10, 6), }"
{
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$header"
    cat "$work/volume.raw"
} >"$work/volume.npy"
expect_exit 0 granulometry --input "$work/volume.raw" --extents 8x10x6 --sizes 3 --output "$work/raw.npy" \
    --check --json
expect 'max_error == 0'
expect_exit 0 granulometry --input "$work/volume.npy" --sizes 3 --output "$work/counts.npy" --check --json
expect 'max_error == 0'
[[ $(value shape) == '[8' ]] || fail 'the extents are those of the file'
cmp "$work/raw.npy" "$work/counts.npy" || fail 'bytes are counted as those of a NumPy file'
expect_exit 0 granulometry --n 24 --sizes 4 --device 'host(memory=2KiB)' --repeat 2 --check --json
expect 'max_error == 0'
expect 'peak_device_bytes <= 2048'
expect_exit 0 granulometry --n 12 --sizes 2 --device 'host(memory=1MiB)' --repeat 3 \
    --graph "$work/graph.dot" --machine "$work/machine.dot" --profile "$work/profile.json"
"$bin/../tools/polytile" graph "$work/graph.dot" --machine "$work/machine.dot" --profile "$work/profile.json" \
    >"$work/out" 2>"$work/err" || fail 'what a run measured is planned with'
grep -q '7 actors' "$work/out" || fail 'the graph is written'
grep -q 'rate\|bytes_per_s' "$work/profile.json" || fail 'rates of links are written'
expect_refusal 2 'cannot write' granulometry --n 5 --profile "$work/no/such/file.json"
expect_refusal 2 'leave out --extents' granulometry --input "$work/volume.npy" --extents 8x10x6
expect_refusal 2 'contradicts' granulometry --input "$work/volume.npy" --n 9
expect_refusal 2 'three dimensions and elements of u8' granulometry --input "$work/d.npy"

expect_refusal 2 'overwrite an input' jacobi --input "$work/d.npy" \
    --output "$work/../$(basename "$work")/d.npy"
expect_refusal 2 'contradicts' jacobi --input "$work/d.npy" --n 41
expect_refusal 2 'dimensions' jacobi3d --input "$work/d.npy"
expect_refusal 2 'dimensions' vector_add --input "$work/d.npy"
expect_refusal 2 'one too many' jacobi --input "$work/d.npy" --input "$work/d.npy"
expect_refusal 2 'is needed' matmul --input "$work/plate.npy"
printf 'no array' >"$work/foreign.npy"
expect_refusal 2 'foreign.npy' jacobi --input "$work/foreign.npy"
head -c 1000 "$work/d.npy" >"$work/short.npy"
expect_refusal 2 'short.npy' jacobi --input "$work/short.npy"
finish
