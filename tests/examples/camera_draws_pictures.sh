#!/usr/bin/env bash
# scripts/camera draws each frame of its clip, in which the ball draws the eye, and a period; skipped
# where FFTW was not, and where Python is not.
# shellcheck source-path=SCRIPTDIR source=support.bash
. "$(dirname "${BASH_SOURCE[0]}")/support.bash"
{ [[ -x $bin/saliency && -x $bin/../tools/polytile ]] && command -v python3 >/dev/null; } || {
    echo 'saliency, the command or Python is not there'
    exit 77
}
BUILD_DIR=$(realpath "$bin/..") OUT=$work/camera "$source_dir/scripts/camera" >"$work/out" 2>"$work/err" ||
    fail 'scripts/camera ends well'
for frame in {0..7}; do
    [[ -s $work/camera/picture$frame.svg ]] || fail "frame $frame has a picture"
    grep -q "picture$frame.svg" "$work/camera/index.html" || fail "frame $frame is shown"
done
grep -q '</svg>' "$work/camera/period.svg" || fail 'the period is drawn'
python3 - "$work/camera/maps.npy" >>"$work/err" 2>&1 <<'END' || fail 'the ball draws the eye'
import array
import sys
rows, columns = 96, 128
with open(sys.argv[1], 'rb') as file:
    file.seek(128)
    maps = array.array('f', file.read())
assert len(maps) == 8 * rows * columns
for frame in range(8):
    one = maps[frame * rows * columns:(frame + 1) * rows * columns]
    at = one.index(max(one))
    distance = ((at // columns - 30 - 5 * frame) ** 2 + (at % columns - 16 - 13 * frame) ** 2) ** 0.5
    assert distance < 16, (frame, at // columns, at % columns, distance)
END
BUILD_DIR=$work "$source_dir/scripts/camera" >"$work/out" 2>"$work/err" && fail 'it needs the programs'
grep -q 'install libfftw3-dev' "$work/err" || fail 'it says what to install'
finish
