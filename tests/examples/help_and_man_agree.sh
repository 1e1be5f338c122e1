#!/usr/bin/env bash
# --help lists every option, and the man page documents each of them.
# shellcheck source-path=SCRIPTDIR source=support.bash
. "$(dirname "${BASH_SOURCE[0]}")/support.bash"

for name in vector_add matrix_add jacobi jacobi3d walsh matmul apsp spmv cg pingpong mandelbrot cannon nbody granulometry saliency; do
    [[ $name != saliency || -x $bin/saliency ]] || continue # built where FFTW is
    expect_exit 0 "$name" --help
    options=$(grep -oE '^  --[a-z-]+' "$work/out" | tr -d ' ')
    of_its_own='--n --input'
    case $name in
        pingpong | mandelbrot | cannon | nbody) of_its_own='--n' ;;
        granulometry) of_its_own='--n --input --sizes --extents --seed --overlap --profile --graph --machine' ;;
        saliency) of_its_own='--n --input --overlap --profile --graph --machine' ;;
        apsp) of_its_own='--graph --scale --degree --sources --seed --kernel' ;;
        cg) of_its_own='--iterations --rows --kind --degree --matrix --seed --input' ;;
        spmv) of_its_own='--rows --kind --degree --matrix --seed --kernel --input' ;;
    esac
    for option in $of_its_own --device --limit --check --plan --json --output --trace --repeat --share \
        --strategy --buffers --help; do
        grep -qx -- "$option" <<<"$options" || fail "$name --help lacks $option"
    done
    for option in $options; do
        grep -qF -- "${option//-/\\-}" "$source_dir/docs/man/$name.1" ||
            fail "the man page of $name lacks $option"
    done
done
finish
