#include <polytile/launch.h>
#include <polytile/polytile.h>

#include "support/c_test.h"

static int n_given(int n_arrays, polytile_array *const *arrays) {
    return arrays[0] == arrays[n_arrays - 1] ? -n_arrays : n_arrays;
}

TEST_CASE(ApiLaunch, AListOfArraysIsACountAndAPointer) {
    polytile_array *x = NULL, *y = NULL;
    CHECK_OK(polytile_array_describe(ctx, "x", POLYTILE_F32, POLYTILE_EXTENTS(4), &x));
    CHECK_OK(polytile_array_describe(ctx, "y", POLYTILE_F32, POLYTILE_EXTENTS(4), &y));
    CHECK_EQUAL(n_given(POLYTILE_ARRAYS(x, x, y)), 3);
    CHECK_EQUAL(n_given(POLYTILE_ARRAYS(x)), -1);
}

/* Of a launch with a parameter: x of eight elements from the n-th on. */
static polytile_status check(polytile_context *ctx, const polytile_launch_options *options) {
    polytile_array *x = NULL, *y = NULL;
    polytile_kernel *kernel = NULL;
    CHECK_OK(polytile_array_describe(ctx, "x", POLYTILE_F32, POLYTILE_EXTENTS(8), &x));
    CHECK_OK(polytile_array_describe(ctx, "y", POLYTILE_F32, POLYTILE_EXTENTS(4), &y));
    CHECK_OK(polytile_kernel_create(ctx, "k[i]: in x[i+n]; out y[i]", NULL, &kernel));
    return polytile_check(kernel, POLYTILE_EXTENTS(4), POLYTILE_ARRAYS(x, y), options);
}

TEST_CASE(ApiLaunch, ParametersAreMadeOfAnyNumber) {
    const polytile_parameter real = polytile_parameter_real("a", 2.5);
    const polytile_parameter least = polytile_parameter_signed("n", INT64_MIN);
    const polytile_parameter most = polytile_parameter_unsigned("n", UINT64_MAX);
    CHECK_TEXT(real.name, "a");
    CHECK(real.number == POLYTILE_FLOAT_NUMBER && real.real == 2.5);
    CHECK(least.number == POLYTILE_SIGNED_NUMBER && least.value == INT64_MIN);
    CHECK(most.number == POLYTILE_UNSIGNED_NUMBER && (uint64_t)most.value == UINT64_MAX);
    CHECK(POLYTILE_PARAMETER("a", 2.5f).real == 2.5);
    CHECK_EQUAL(POLYTILE_PARAMETER("a", 2.5f).number, POLYTILE_FLOAT_NUMBER);
    CHECK_EQUAL(POLYTILE_PARAMETER("a", -1).number, POLYTILE_SIGNED_NUMBER);
    CHECK_EQUAL(POLYTILE_PARAMETER("a", (uint64_t)1).number, POLYTILE_UNSIGNED_NUMBER);
}

/* A value that no subscript uses is not needed to plan; one that is given is looked at. */
TEST_CASE(ApiLaunch, IsCheckedWithoutValuesThatNoSubscriptUses) {
    const polytile_parameter half = POLYTILE_PARAMETER("a", 0.5),
                             much = POLYTILE_PARAMETER("a", 1e39);
    const polytile_parameter unknown = {"a", 1, 1, (polytile_number)4};
    polytile_array *x = NULL;
    polytile_kernel *kernel = NULL;
    CHECK_OK(polytile_array_describe(ctx, "x", POLYTILE_F32, POLYTILE_EXTENTS(8), &x));
    CHECK_OK(polytile_kernel_create(ctx, "scale[i](f32 a): inout x[i]", NULL, &kernel));
    CHECK_OK(polytile_check(kernel, POLYTILE_EXTENTS(8), POLYTILE_ARRAYS(x), NULL));
    CHECK_OK(polytile_check(kernel, POLYTILE_EXTENTS(8), POLYTILE_ARRAYS(x),
                            &(polytile_launch_options){.n_parameters = 1, .parameters = &half}));
    CHECK_REFUSED(
        polytile_check(kernel, POLYTILE_EXTENTS(8), POLYTILE_ARRAYS(x),
                       &(polytile_launch_options){.n_parameters = 1, .parameters = &much}),
        POLYTILE_INVALID, "scale", "a is f32", "1e+39");
    CHECK_REFUSED(
        polytile_check(kernel, POLYTILE_EXTENTS(8), POLYTILE_ARRAYS(x),
                       &(polytile_launch_options){.n_parameters = 1, .parameters = &unknown}),
        POLYTILE_INVALID, "scale: the number of parameter a is 4");
}

TEST_CASE(ApiLaunch, HasTheValuesOfItsParameters) {
    const polytile_parameter four = POLYTILE_PARAMETER("n", 4), five = POLYTILE_PARAMETER("n", 5);
    CHECK_OK(check(ctx, &(polytile_launch_options){.n_parameters = 1, .parameters = &four}));
    CHECK_REFUSED(check(ctx, &(polytile_launch_options){.n_parameters = 1, .parameters = &five}),
                  POLYTILE_DECLARATION, "k", "x");
    CHECK_REFUSED(check(ctx, NULL), POLYTILE_DECLARATION, "k", "n");
    CHECK_REFUSED(check(ctx, &(polytile_launch_options){0}), POLYTILE_DECLARATION, "k", "n");
}

TEST_CASE(ApiLaunch, ParametersAreGivenInOneArgument) {
    CHECK_OK(check(ctx, POLYTILE_PARAMETERS(POLYTILE_PARAMETER("n", 4))));
    CHECK_REFUSED(check(ctx, POLYTILE_PARAMETERS(POLYTILE_PARAMETER("n", 5))), POLYTILE_DECLARATION,
                  "k", "x");
    CHECK_REFUSED(
        check(ctx, POLYTILE_PARAMETERS(POLYTILE_PARAMETER("n", 4), POLYTILE_PARAMETER("a", 2.5f))),
        POLYTILE_INVALID, "k", "a", "2.5");
}

TEST_CASE(ApiLaunch, OfAChainHasParametersOfItsOwn) {
    const polytile_parameter none = POLYTILE_PARAMETER("n", 0), four = POLYTILE_PARAMETER("n", 4);
    polytile_array *arrays[2] = {NULL};
    polytile_kernel *kernel = NULL;
    CHECK_OK(polytile_array_describe(ctx, "x", POLYTILE_F32, POLYTILE_EXTENTS(8), &arrays[0]));
    CHECK_OK(polytile_array_describe(ctx, "y", POLYTILE_F32, POLYTILE_EXTENTS(4), &arrays[1]));
    CHECK_OK(polytile_kernel_create(ctx, "k[i]: in x[i+n]; out y[i]", NULL, &kernel));
    polytile_chain_launch launches[] = {
        {kernel, *POLYTILE_EXTENTS(4), 2, arrays, 1, &none, {0}},
        {kernel, *POLYTILE_EXTENTS(4), 2, arrays, 1, &four, {0}},
    };
    CHECK_OK(polytile_check_chain(2, launches, 0, NULL, NULL));
    launches[1].n_parameters = 0;
    CHECK_REFUSED(polytile_check_chain(2, launches, 0, NULL, NULL), POLYTILE_DECLARATION,
                  "launch 2 of 2", "k", "n");
    launches[1] = launches[0];
    launches[1].n_arrays = 1;
    CHECK_REFUSED(polytile_check_chain(2, launches, 0, NULL, NULL), POLYTILE_INVALID,
                  "launch 2 of 2", "k");
    launches[1] = launches[0];
    launches[1].reserved[3] = 1;
    CHECK_REFUSED(polytile_check_chain(2, launches, 0, NULL, NULL), POLYTILE_INVALID,
                  "reserved[3] of polytile_chain_launch is 1");
}

static const polytile_launch_options from_a_later_version[] = {
    {.reserved = {1}}, {.reserved = {0, 0, 0, 1}}, {.plan.reserved = {1}}};

TEST_TABLE(ApiLaunch, ReservedMembersAreZeros, from_a_later_version) {
    const polytile_parameter four = POLYTILE_PARAMETER("n", 4);
    polytile_launch_options options = *row;
    options.n_parameters = 1;
    options.parameters = &four;
    CHECK_REFUSED(check(ctx, &options), POLYTILE_INVALID, "reserved");
}

TEST_CASE(ApiLaunch, ReservedMembersOfALinkAreZeros) {
    const polytile_parameter four = POLYTILE_PARAMETER("n", 4);
    polytile_link link = polytile_link_default;
    polytile_launch_options options = {.n_parameters = 1, .parameters = &four, .plan.link = &link};
    CHECK_OK(check(ctx, &options));
    link.reserved[1] = 6;
    CHECK_REFUSED(check(ctx, &options), POLYTILE_INVALID, "reserved[1] of polytile_link is 6");
}

TEST_CASE(ApiLaunch, TheLinkOfPlansIsAMachines) {
    CHECK(polytile_link_default.upload_bytes_per_s > 0);
    CHECK(polytile_link_default.download_bytes_per_s > 0);
    CHECK(polytile_link_default.duplex_bytes_per_s > 0);
    CHECK(polytile_link_default.kernel_bytes_per_s > polytile_link_default.upload_bytes_per_s);
}
