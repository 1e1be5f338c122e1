#!/usr/bin/env bash
# build/bench/parameters runs all that it compares, in small, and finds no wrong result: BUILD_DIR.
set -euo pipefail

json=$(mktemp)
trap 'rm -f "$json"' EXIT
"$1/bench/parameters" --quick --json "$json"

# The time of no side is nothing, and both sides of the time steps are fused.
expect() {
    n_found=$(grep -Ec "$1" "$json") || true
    ((n_found == $2)) || { echo "$n_found figures like $1, not $2"; exit 1; }
}
expect '"(parameters?|literal|none)_u?s", "value": [0-9.e-]*[1-9]' 14
expect '"ratio_of_[a-z]+", "value": [0-9.e-]*[1-9]' 10
expect '"(parameter|literal)_launches_a_pass", "value": ([2-9]|[1-9][0-9])([.}]|, )' 2
