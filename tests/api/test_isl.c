#include <polytile/isl.h>
#include <polytile/polytile.h>

#include "support/c_test.h"

#include <stdlib.h>
#include <string.h>

static polytile_declaration *begin(polytile_context *ctx) {
    polytile_declaration *declaration = NULL;
    CHECK_OK(polytile_declaration_create(ctx, "k", 1, (const char *[]){"i"}, 1,
                                         (const char *[]){"n"}, &declaration));
    return declaration;
}

/* Adds a map that is written as isl writes it. */
static polytile_status add(polytile_declaration *declaration, const char *array, const char *text) {
    isl_ctx *isl = isl_ctx_alloc();
    isl_map *map = isl_map_read_from_str(isl, text);
    const polytile_status status =
        polytile_declaration_add_isl_map(declaration, POLYTILE_IN, false, array, map);
    isl_map_free(map);
    isl_ctx_free(isl);
    return status;
}

static int n_accesses_of(polytile_context *ctx, const polytile_declaration *declaration) {
    polytile_kernel *kernel = NULL;
    CHECK_OK(polytile_kernel_create_from(declaration, NULL, &kernel));
    return polytile_kernel_get_n_accesses(kernel);
}

static const struct {
    const char *map;
    int n_accesses;
} maps[] = {
    {"{ [i] -> [a] : i <= a <= i + 2 }", 1},
    {"[n] -> { S[i] -> A[a, b] : a = i and 0 <= b < n }", 1},
    {"{ [i] -> [a] : a = i or a = i + 5 }", 2},
    {"{ T[x] -> U[y] : exists e : y = 2e and x <= y <= x + 4 }", 1},
};

TEST_TABLE(ApiIsl, AMapIsAnAccessABasicMap, maps) {
    polytile_declaration *declaration = begin(ctx);
    CHECK_OK(add(declaration, "A", row->map));
    CHECK_EQUAL(n_accesses_of(ctx, declaration), row->n_accesses);
}

static const struct {
    const char *map;
    polytile_status status;
    const char *says;
} wrong_maps[] = {
    {"{ [i, j] -> [a] : a = i }", POLYTILE_DECLARATION, "2"},
    {"[m] -> { [i] -> [a] : a = i + m }", POLYTILE_DECLARATION, "m"},
    {"{ [i] -> [a] : 1 = 0 }", POLYTILE_DECLARATION, "A"},
    {"{ [i] -> [a, b] : a = i }", POLYTILE_DECLARATION, "A"},
    {"{ [i] -> [] : i >= 0 }", POLYTILE_DECLARATION, "A"},
    {"{ [i] -> [a] : a = 18446744073709551616 i }", POLYTILE_OVERFLOW, "64 bits"},
};

TEST_TABLE(ApiIsl, AMapThatIsNoAccessLeavesTheDeclarationAsItWas, wrong_maps) {
    polytile_declaration *declaration = begin(ctx);
    CHECK_OK(add(declaration, "A", "{ [i] -> [i] }"));
    CHECK_REFUSED(add(declaration, "A", row->map), row->status, row->says);
    CHECK_EQUAL(n_accesses_of(ctx, declaration), 1);
}

TEST_CASE(ApiIsl, AMapMayBeNull) {
    CHECK_REFUSED(polytile_declaration_add_isl_map(begin(ctx), POLYTILE_IN, false, "A", NULL),
                  POLYTILE_INVALID, "NULL");
    CHECK_REFUSED(add(NULL, "A", "{ [i] -> [i] }"), POLYTILE_INVALID, "NULL");
}

static polytile_kernel *declare(polytile_context *ctx, const char *text) {
    polytile_kernel *kernel = NULL;
    CHECK_OK(polytile_kernel_create(ctx, text, NULL, &kernel));
    return kernel;
}

TEST_CASE(ApiIsl, AKernelHasItsAccessesInTheirOrder) {
    polytile_kernel *kernel =
        declare(ctx, "k[i]: in x[i], y[i]; in {[i] -> z[a] : a = i or a = 2i}; out x[i+9]");
    const int arrays[] = {0, 1, 2, 2, 0};
    CHECK_EQUAL(polytile_kernel_get_n_accesses(kernel), 5);
    for (int k = 0; k < 5; k++)
        CHECK_EQUAL(polytile_kernel_get_access_array(kernel, k), arrays[k]);
    CHECK_EQUAL(polytile_kernel_get_access_array(kernel, 5), -1);
    CHECK_EQUAL(polytile_kernel_get_access_array(kernel, -1), -1);
}

static const struct {
    const char *declaration, *map;
} accesses[] = {
    {"k[i]: in x[i-1:i+1]", "{ k[i] -> x[a] : i - 1 <= a <= i + 1 }"},
    {"k[i]: in x[2*i:2*i+4:2]", "{ k[i] -> x[a] : a mod 2 = 0 and 2i <= a <= 2i + 4 }"},
    {"k[i]: in x[n-i]", "[n] -> { k[i] -> x[n - i] }"},
    {"k[i, j]: in x[i, :]", "{ k[i, j] -> x[i, b] }"},
    {"k[i, j]: in {[i, j] -> x[a] : i < a < j}", "{ k[i, j] -> x[a] : i < a < j }"},
};

/* The copy lives in the caller's isl context and longer than the kernel. */
TEST_TABLE(ApiIsl, AnAccessIsCopiedAsAMap, accesses) {
    isl_ctx *isl = isl_ctx_alloc();
    isl_map *wanted = isl_map_read_from_str(isl, row->map), *map = NULL;
    polytile_kernel *kernel = declare(ctx, row->declaration);
    CHECK_OK(polytile_kernel_copy_isl_map(kernel, 0, isl, &map));
    polytile_kernel_destroy(kernel);
    if (!CHECK(isl_map_is_equal(map, wanted) == isl_bool_true)) {
        char *text = isl_map_to_str(map);
        CHECK_TEXT(text, row->map);
        free(text);
    }
    isl_map_free(map);
    isl_map_free(wanted);
    isl_ctx_free(isl);
}

static const int no_accesses[] = {-1, 1, 1000};

TEST_TABLE(ApiIsl, AnAccessThatThereIsNotHasNoMap, no_accesses) {
    isl_ctx *isl = isl_ctx_alloc();
    char nothing;
    isl_map *map = (isl_map *)(void *)&nothing;
    CHECK_REFUSED(polytile_kernel_copy_isl_map(declare(ctx, "k[i]: in x[i]"), *row, isl, &map),
                  POLYTILE_INVALID, "access");
    CHECK(map == NULL);
    isl_ctx_free(isl);
}

TEST_CASE(ApiIsl, ACopyNeedsAnIslContext) {
    isl_map *map = NULL;
    CHECK_REFUSED(polytile_kernel_copy_isl_map(declare(ctx, "k[i]: in x[i]"), 0, NULL, &map),
                  POLYTILE_INVALID, "NULL");
    CHECK_EQUAL(polytile_kernel_get_n_accesses(NULL), 0);
    CHECK_EQUAL(polytile_kernel_get_access_array(NULL, 0), -1);
}
