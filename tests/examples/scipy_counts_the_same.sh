#!/usr/bin/env bash
# Openings leave what SciPy's leave, of grey volumes of any extents; skipped where SciPy is not.
# shellcheck source-path=SCRIPTDIR source=support.bash
. "$(dirname "${BASH_SOURCE[0]}")/support.bash"
python3 -c 'import scipy.ndimage' 2>/dev/null || {
    echo 'SciPy is not installed'
    exit 77
}

# Writes a volume, and the counts that SciPy has for it: SEED EXTENTS... Elements beyond the border are
# the greatest for erosions and the least for dilations, and so do not count.
make_volume() {
    python3 - "$work" "$@" <<'END'
import sys
import numpy as np
from scipy import ndimage
work, seed, *extents = sys.argv[1:]
rng = np.random.default_rng(int(seed))
volume = rng.integers(1, 256, [int(n) for n in extents], dtype=np.uint8)
for _ in range(4):
    at = [int(rng.integers(0, n)) for n in volume.shape]
    volume[tuple(slice(a, a + int(rng.integers(1, 6))) for a in at)] = 0
volume[rng.random(volume.shape) < 0.02] = 0
np.save(work + '/volume.npy', volume)
counts = [np.count_nonzero(volume)]
for size in range(1, 6):
    opened = volume
    for _ in range(size):
        opened = ndimage.grey_erosion(opened, (3, 3, 3), mode='constant', cval=255)
    for _ in range(size):
        opened = ndimage.grey_dilation(opened, (3, 3, 3), mode='constant', cval=0)
    counts.append(np.count_nonzero(opened))
np.save(work + '/expected.npy', np.array(counts, dtype=np.int64))
END
}

for seed in {1..8}; do
    make_volume "$seed" $((seed + 3)) $((20 - seed)) 9
    expect_exit 0 granulometry --input "$work/volume.npy" --sizes 5 --output "$work/counts.npy" --check \
        --device 'host(threads=1),host(memory=1MiB,threads=1)'
    cmp "$work/counts.npy" "$work/expected.npy" || fail "seed $seed: SciPy counts otherwise"
done
finish
