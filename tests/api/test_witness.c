#include <polytile/polytile.h>
#include <polytile/witness.h>

#include "support/c_test.h"

static polytile_array *describe(polytile_context *ctx, const char *name, int64_t n) {
    polytile_array *array = NULL;
    CHECK_OK(polytile_array_describe(ctx, name, POLYTILE_F32, POLYTILE_EXTENTS(n), &array));
    return array;
}

static polytile_kernel *declare(polytile_context *ctx, const char *text) {
    polytile_kernel *kernel = NULL;
    CHECK_OK(polytile_kernel_create(ctx, text, NULL, &kernel));
    return kernel;
}

TEST_CASE(ApiWitness, IsNoneWithoutAnError) {
    polytile_witness witness = {.kind = POLYTILE_WITNESS_CONFLICT};
    SPOIL(witness);
    CHECK(!polytile_last_witness(ctx, &witness));
    CHECK_EQUAL(witness.kind, POLYTILE_WITNESS_NONE);
    CHECK_RESERVED(witness);
}

TEST_CASE(ApiWitness, OfAConflictIsTwoThreadsAndAnElement) {
    polytile_array *arrays[] = {describe(ctx, "A", 10)};
    polytile_kernel *kernel = declare(ctx, "smooth[i]: in A[i-1:i+1]; out A[i]");
    polytile_witness witness = {0};
    CHECK_REFUSED(polytile_check(kernel, POLYTILE_INTERIOR(1, 10), 1, arrays, NULL),
                  POLYTILE_CONFLICT, "smooth", "threads", "A[");
    CHECK(polytile_last_witness(ctx, &witness));
    CHECK_EQUAL(witness.kind, POLYTILE_WITNESS_CONFLICT);
    CHECK_EQUAL(witness.launch, 0);
    CHECK_EQUAL(witness.operand, 0);
    CHECK_EQUAL(witness.n_indices, 1);
    CHECK_EQUAL(witness.n_dims, 1);
    const int64_t apart = witness.thread[0] - witness.other[0];
    CHECK(apart == 1 || apart == -1);
    CHECK(witness.element[0] == witness.thread[0] || witness.element[0] == witness.other[0]);
}

TEST_CASE(ApiWitness, OfASectionOutsideIsItsThread) {
    polytile_array *arrays[] = {describe(ctx, "x", 10), describe(ctx, "y", 20)};
    polytile_kernel *kernel = declare(ctx, "k[i]: in x[i]; out y[i]");
    polytile_witness witness = {0};
    CHECK_REFUSED(polytile_check(kernel, POLYTILE_EXTENTS(20), 2, arrays, NULL),
                  POLYTILE_DECLARATION, "k", "x");
    CHECK(polytile_last_witness(ctx, &witness));
    CHECK_EQUAL(witness.kind, POLYTILE_WITNESS_OUTSIDE);
    CHECK_EQUAL(witness.operand, 0);
    CHECK(witness.thread[0] >= 10 && witness.thread[0] < 20);
}

TEST_CASE(ApiWitness, OfAnElementWithoutAValueNamesTheLaunch) {
    polytile_array *arrays[] = {describe(ctx, "x", 10), describe(ctx, "y", 10)};
    polytile_array *back[] = {arrays[1], arrays[0]};
    polytile_kernel *half = declare(ctx, "half[i]: in x[i]; out y[i]");
    polytile_kernel *whole = declare(ctx, "whole[i]: in y[i]; out x[i]");
    const polytile_chain_launch launches[] = {
        {half, *POLYTILE_EXTENTS(5), 2, arrays, 0, NULL, {0}},
        {whole, *POLYTILE_EXTENTS(10), 2, back, 0, NULL, {0}}};
    polytile_witness witness = {0};
    CHECK_REFUSED(polytile_check_chain(2, launches, 1, &arrays[1], NULL), POLYTILE_DECLARATION,
                  "launch 2 of 2", "whole", "y[");
    CHECK(polytile_last_witness(ctx, &witness));
    CHECK_EQUAL(witness.kind, POLYTILE_WITNESS_UNINITIALISED);
    CHECK_EQUAL(witness.launch, 1);
    CHECK_EQUAL(witness.operand, 0);
    CHECK(witness.element[0] >= 5 && witness.element[0] < 10);
    CHECK_EQUAL(witness.element[0], witness.thread[0]);
}

TEST_CASE(ApiWitness, EndsWithTheErrorThatItShows) {
    polytile_array *arrays[] = {describe(ctx, "x", 10)};
    polytile_kernel *kernel = declare(ctx, "k[i]: out x[0]");
    polytile_witness witness = {0};
    CHECK_STATUS(polytile_check(kernel, POLYTILE_EXTENTS(10), 1, arrays, NULL), POLYTILE_CONFLICT);
    CHECK_REFUSED(polytile_check(kernel, NULL, 1, arrays, NULL), POLYTILE_INVALID, "domain");
    CHECK(!polytile_last_witness(ctx, &witness));
    CHECK_EQUAL(witness.kind, POLYTILE_WITNESS_NONE);
}

TEST_CASE(ApiWitness, MayHaveNoPlace) {
    polytile_witness witness = {.kind = POLYTILE_WITNESS_OUTSIDE};
    CHECK(!polytile_last_witness(ctx, NULL));
    CHECK(!polytile_last_witness(NULL, &witness));
    CHECK_EQUAL(witness.kind, POLYTILE_WITNESS_NONE);
}
