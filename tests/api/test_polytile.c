#include <polytile/polytile.h>

#include "support/c_test.h"

/* What NULL in place of an object gives; the tests of the other headers have it function by
 * function. */

TEST_CASE(ApiPolytile, AnErrorAboutNullIsToldOfAnyContext) {
    polytile_context *other = NULL;
    polytile_plan *plan = NULL;
    CHECK_OK(polytile_context_create(&other));
    CHECK_STATUS(polytile_plan_create(NULL, POLYTILE_EXTENTS(4), 0, NULL, NULL, &plan),
                 POLYTILE_INVALID);
    CHECK_CONTAINS(polytile_last_error(ctx), "polytile_plan_create: the kernel is NULL");
    CHECK_TEXT(polytile_last_error(other), polytile_last_error(ctx));
    CHECK_TEXT(polytile_last_error(NULL), polytile_last_error(ctx));
    polytile_context_destroy(other);
}

TEST_CASE(ApiPolytile, AnErrorAboutNullLastsUntilTheNextCall) {
    polytile_plan *plan = NULL;
    polytile_array *array = NULL;
    CHECK_STATUS(polytile_plan_create(NULL, POLYTILE_EXTENTS(4), 0, NULL, NULL, &plan),
                 POLYTILE_INVALID);
    CHECK_OK(polytile_array_describe(ctx, "x", POLYTILE_F32, POLYTILE_EXTENTS(4), &array));
    CHECK_TEXT(polytile_last_error(ctx), "");
}

TEST_CASE(ApiPolytile, WhatEndsPausesOrResumesNullDoesNothing) {
    polytile_context_destroy(NULL);
    polytile_array_destroy(NULL);
    polytile_kernel_destroy(NULL);
    polytile_declaration_destroy(NULL);
    polytile_plan_destroy(NULL);
    polytile_device_close(NULL);
    polytile_queue_destroy(NULL);
    polytile_queue_pause(NULL);
    polytile_queue_resume(NULL);
    polytile_npy_abandon(NULL);
    CHECK_TEXT(polytile_last_error(ctx), "");
}
