#include <polytile/footprint.h>
#include <polytile/polytile.h>

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

/** Whether a box of one dimension is lo:hi:step. */
static bool is_range(const polytile_domain *box, int64_t lo, int64_t hi, int64_t step) {
    return box->n_dims == 1 && box->range[0].lo == lo && box->range[0].hi == hi &&
           box->range[0].step == step;
}

TEST_CASE(ApiFootprint, OfFarSectionsIsAPieceEach) {
    polytile_array *arrays[] = {describe(ctx, "x", 10000), describe(ctx, "y", 100)};
    polytile_kernel *kernel = declare(ctx, "k[i]: in x[i], x[i+1], x[2*i+5000]; out y[i]");
    polytile_footprint *footprint = NULL;
    CHECK_OK(
        polytile_footprint_create(kernel, POLYTILE_INTERIOR(10, 30), 2, arrays, NULL, &footprint));
    const polytile_array_footprint *x = polytile_footprint_get_array(footprint, 0);
    const polytile_array_footprint *y = polytile_footprint_get_array(footprint, 1);
    CHECK(x != NULL && y != NULL);
    CHECK_RESERVED(*x);
    CHECK_EQUAL(x->n_pieces, 2);
    CHECK(is_range(&x->pieces[0], 10, 20, 1));
    CHECK(is_range(&x->pieces[1], 5020, 5038, 2));
    CHECK(is_range(&x->hull, 10, 5038, 1));
    CHECK_EQUAL(x->n_boxes, 2);
    CHECK(x->is_exact);
    CHECK_EQUAL(y->n_pieces, 1);
    CHECK(is_range(&y->pieces[0], 10, 19, 1));
    polytile_footprint_destroy(footprint);
}

TEST_CASE(ApiFootprint, OfADiagonalIsABoxAnElement) {
    polytile_array *arrays[] = {NULL, describe(ctx, "y", 100)};
    CHECK_OK(
        polytile_array_describe(ctx, "D", POLYTILE_F32, POLYTILE_EXTENTS(100, 100), &arrays[0]));
    polytile_kernel *kernel = declare(ctx, "k[i]: in D[i, i]; out y[i]");
    polytile_footprint *footprint = NULL;
    CHECK_OK(polytile_footprint_create(kernel, POLYTILE_EXTENTS(100), 2, arrays, NULL, &footprint));
    const polytile_array_footprint *D = polytile_footprint_get_array(footprint, 0);
    CHECK_EQUAL(D->n_boxes, 100);
    CHECK(D->is_exact);
    CHECK_EQUAL(D->n_pieces, 1);
}

TEST_CASE(ApiFootprint, OfWhatIsTouchedNowhereIsEmpty) {
    polytile_array *arrays[] = {describe(ctx, "x", 100), describe(ctx, "y", 100)};
    polytile_kernel *kernel = declare(ctx, "k[i]: in x[0:i-10]; out y[i]");
    polytile_footprint *footprint = NULL;
    CHECK_OK(polytile_footprint_create(kernel, POLYTILE_EXTENTS(10), 2, arrays, NULL, &footprint));
    const polytile_array_footprint *x = polytile_footprint_get_array(footprint, 0);
    CHECK_EQUAL(x->n_boxes, 0);
    CHECK_EQUAL(x->n_pieces, 1);
    CHECK(x->hull.range[0].hi < x->hull.range[0].lo);
}

TEST_CASE(ApiFootprint, IsRefusedAsALaunchIs) {
    polytile_array *arrays[] = {describe(ctx, "x", 100), describe(ctx, "y", 100)};
    polytile_kernel *kernel = declare(ctx, "k[i]: in x[i]; out y[i]");
    polytile_footprint *footprint = NULL;
    CHECK_REFUSED(polytile_footprint_create(kernel, NULL, 2, arrays, NULL, &footprint),
                  POLYTILE_INVALID, "k", "domain");
    CHECK_REFUSED(
        polytile_footprint_create(kernel, POLYTILE_EXTENTS(101), 2, arrays, NULL, &footprint),
        POLYTILE_DECLARATION, "x");
    CHECK_REFUSED(polytile_footprint_create(kernel, POLYTILE_EXTENTS(10), 2, arrays, NULL, NULL),
                  POLYTILE_INVALID, "footprint");
    CHECK(footprint == NULL);
}

TEST_CASE(ApiFootprint, HasTheArraysOfTheKernel) {
    polytile_array *arrays[] = {describe(ctx, "x", 100), describe(ctx, "y", 100)};
    polytile_footprint *footprint = NULL;
    CHECK_OK(polytile_footprint_create(declare(ctx, "k[i]: in x[i]; out y[i]"), POLYTILE_EXTENTS(5),
                                       2, arrays, NULL, &footprint));
    CHECK(polytile_footprint_get_array(footprint, -1) == NULL);
    CHECK(polytile_footprint_get_array(footprint, 1) != NULL);
    CHECK(polytile_footprint_get_array(footprint, 2) == NULL);
    CHECK(polytile_footprint_get_array(NULL, 0) == NULL);
    polytile_footprint_destroy(NULL);
}
