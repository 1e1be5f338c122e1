#!/usr/bin/env bash
# Saliency by fast transforms is that of sums, on any units; skipped where FFTW was not.
# shellcheck source-path=SCRIPTDIR source=support.bash
. "$(dirname "${BASH_SOURCE[0]}")/support.bash"
[[ -x $bin/saliency ]] || {
    echo 'saliency is not built: it needs FFTW'
    exit 77
}

# Runs it and compares with sums: ARGUMENTS...
run_near() {
    expect_exit 0 saliency "$@" --check --json
    expect 'max_error < 0.0001'
    expect 'kernels == 8'
    expect 'total_s > 0'
}

# A clip of extents that are no powers of two: FRAMES ROWS COLUMNS TYPE BYTES
make_clip() {
    local shape="$1, $2, $3"
    printf '\x93NUMPY\x01\x00v\x00%-117s\n' "{'descr': '$4', 'fortran_order': False, 'shape': ($shape), }"
    awk -v n=$(($1 * $2 * $3 * $5)) 'BEGIN { for (k = 0; k < n; k += 4) printf "ab%c%c", 48 + k % 13, 62 + k % 3 }'
}

for n in $(some 4 9 16 32); do
    for device in host 'host(memory=4MiB)' 'host(threads=1),host(memory=8MiB,threads=1)'; do
        run_near --n "$n" --device "$device" --repeat 2
        expect 'frames == 12'
    done
done
make_clip 3 14 20 '<f4' 4 >"$work/clip.npy"
run_near --input "$work/clip.npy" --output "$work/maps.npy" --graph "$work/graph.dot" \
    --machine "$work/machine.dot" --profile "$work/profile.json"
[[ $(value shape) == '[14' ]] || fail 'the extents are those of the clip'
[[ $(stat -c %s "$work/maps.npy") == $(stat -c %s "$work/clip.npy") ]] || fail 'maps are as large as the clip'
"$bin/../tools/polytile" graph "$work/graph.dot" --machine "$work/machine.dot" --profile "$work/profile.json" \
    --svg "$work/graph.svg" >"$work/out" 2>"$work/err" || fail 'what a run measured is planned with'
grep -q '8 actors' "$work/out" || fail 'the graph is written'
expect_exit 0 saliency --n 512 --device cuda:0,cuda:1 --plan --json
expect 'devices == 2'

expect_refusal 2 'contradicts' saliency --input "$work/clip.npy" --n 14
make_clip 3 14 3 '<f4' 4 >"$work/narrow.npy"
expect_refusal 2 '4 to 16384 elements a side' saliency --input "$work/narrow.npy"
make_clip 3 14 20 '<f8' 8 >"$work/wide.npy"
expect_refusal 2 'of f32' saliency --input "$work/wide.npy"
expect_refusal 2 '--share: ' saliency --share equal
expect_refusal 3 'limit' saliency --n 64 --limit 16KiB
finish
