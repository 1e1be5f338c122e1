#!/usr/bin/env bash
# scripts/bench-effort counts without a build: SOURCE_DIR. Skipped (77) where python3 or lizard is not
# installed.
set -euo pipefail

command -v python3 >/dev/null || { echo "skipped: no python3 here"; exit 77; }
readonly no_lizard=2
json=$(mktemp)
trap 'rm -f "$json"' EXIT

status=0
table=$("$1/scripts/bench-effort" --json "$json") || status=$?
((status != no_lizard)) || exit 77
((status == 0)) || { echo "exit code $status"; exit 1; }

# The paper's own ratios for matrix addition, from its table: what the targets were made from.
grep -Eq 'matrix_add +paper: Comm. / CUDA +0.63 +0.52 +0.60' <<<"$table" || {
    echo "the paper's ratios are not in:"
    echo "$table"
    exit 1
}

# What every program has to have if lizard understood it: each function's own decisions and more
# tokens than lines.
python3 - "$json" <<'PYTHON'
import json, sys
studies = json.load(open(sys.argv[1]))["studies"]
assert set(studies) == {"matrix_add", "matmul", "jacobi"}, studies.keys()
# main, three loops; main, check with a branch, a kernel that compares two indices and loops.
assert studies["matrix_add"]["openmp"]["complexity"] == 5, studies["matrix_add"]
assert studies["matrix_add"]["cuda"]["complexity"] == 7, studies["matrix_add"]
for study, row in studies.items():
    for model in ("cuda", "openmp", "polytile"):
        assert row[model]["tokens"] > row[model]["lines"] > 10, (study, model, row[model])
    assert row["port"]["polytile"] <= 5 < row["port"]["native"], (study, row["port"])
PYTHON
