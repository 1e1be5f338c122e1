#!/usr/bin/env bash
# Ranks that were not started alike say which one differs in what, all with exit code 2, and none waits.
# shellcheck source-path=SCRIPTDIR source=support.bash
. "$(dirname "${BASH_SOURCE[0]}")/support.bash"
[[ -n $mpiexec ]] || exit 77
export OMP_NUM_THREADS=1

# Runs command lines as one job, and expects a refusal that says what differs: TEXT COMMAND... [: COMMAND...]...
expect_difference() {
    local text=$1 code=0 words=() word
    shift
    words=(-n 1)
    for word in "$@"; do
        words+=("$word")
        [[ $word != : ]] || words+=(-n 1)
    done
    timeout 60 "$mpiexec" "${words[@]}" </dev/null >"$work/out" 2>"$work/err" || code=$?
    ((code == 2)) || fail "$*: exit code $code, expected 2"
    grep -qF -- "$text" "$work/err" || fail "$*: stderr lacks \"$text\""
    [[ ! -s $work/out ]] || fail "$*: a refusal wrote to stdout"
}

jacobi=("$bin/jacobi" --n 40 --steps 2)
expect_difference "rank 1 was given '--output $work/b.npy', where rank 0 was given '--output $work/a.npy'" \
    "${jacobi[@]}" --output "$work/a.npy" : "${jacobi[@]}" --output "$work/b.npy"
[[ ! -e $work/a.npy && ! -e $work/b.npy ]] || fail 'no file is written'
expect_difference "rank 2 was given '--output=$work/a.npy', where rank 0 was given nothing" \
    "${jacobi[@]}" : "${jacobi[@]}" : "${jacobi[@]}" "--output=$work/a.npy"
expect_difference "rank 1 was given '--steps 3', where rank 0 was given '--steps 2'" \
    "${jacobi[@]}" : "$bin/jacobi" --n 40 --steps 3
expect_difference "rank 1 was given '--help', where rank 0 was given nothing" \
    "${jacobi[@]}" : "${jacobi[@]}" --help
expect_difference "rank 1 was given nothing, where rank 0 was given '--help'" \
    "${jacobi[@]}" --help : "${jacobi[@]}"
expect_difference "rank 1 was given '--bogus', where rank 0 was given nothing" \
    "${jacobi[@]}" : "${jacobi[@]}" --bogus
expect_difference "rank 1 runs 'vector_add', where rank 0 runs 'jacobi'" \
    "${jacobi[@]}" : "$bin/vector_add" --n 40 --steps 2
expect_difference "rank 1 runs 'field', where rank 0 runs 'jacobi'" \
    "${jacobi[@]}" : "$bin/field" make 40 "$work/f.npy"
expect_difference "rank 1 runs 'jacobi', where rank 0 runs 'field'" \
    "$bin/field" make 40 "$work/f.npy" : "${jacobi[@]}"
[[ ! -e $work/f.npy ]] || fail 'no field is made'

prefix=("$mpiexec" -n 3)
expect_exit 0 jacobi --help
[[ $(grep -c '^usage:' "$work/out") == 1 ]] || fail 'the help is printed once'
expect_exit 0 field make 40 "$work/f.npy"
finish
