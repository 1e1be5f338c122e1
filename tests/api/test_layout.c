#include <polytile/kernel.h>
#include <polytile/layout.h>
#include <polytile/polytile.h>

#include "support/c_test.h"

#include <stdlib.h>

/** Runs of as many indices as the argument says, in turn from the last part to the first. */
static int deal_backwards(const polytile_layout_dimension *of, int64_t index, int64_t *last,
                          void *user) {
    const int64_t n = *of->arguments == '\0' ? 1 : atoi(of->arguments);
    const int64_t run = (index - of->first) / n;
    CHECK_RESERVED(*of);
    *(int *)user += 1;
    *last = of->first + (run + 1) * n - 1;
    return of->n_parts - 1 - (int)(run % of->n_parts);
}

/** Answers that are none: each index goes to some part all the same. */
static int deal_wildly(const polytile_layout_dimension *of, int64_t index, int64_t *last,
                       void *user) {
    (void)user;
    *last = index % 3 == 0 ? of->first - 5 : of->last + 9;
    return index % 2 == 0 ? -7 : 1000;
}

POLYTILE_KERNEL(smooth, (i, j), (const int, A, 2), (int, B, 2)) {
    PT_AT(B, i, j) = PT_AT(A, i - 1, j) + 3 * PT_AT(A, i, j) + PT_AT(A, i, j + 1);
}

enum { N = 40 };

static void smooth_plainly(int (*A)[N], int (*B)[N]) {
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++)
            B[i][j] = A[i - 1][j] + 3 * A[i][j] + A[i][j + 1];
}

static const struct {
    const char *devices;
    const char *layout;
} shares[] = {
    {"host,host", "backwards"},
    {"host,host,host", "backwards(3)"},
    {"host(memory=2KiB),host", "backwards(7)"},
    {"host,host(memory=3KiB),host,host", "backwards(1000)"},
    {"host,host", "wild"},
    {"host,host,host", "wild"},
};

TEST_TABLE(ApiLayout, DealsOutArraysAndLeavesResultsAsTheyAre, shares) {
    int A[N][N], B[N][N] = {{0}}, a[N][N], b[N][N] = {{0}}, n_calls = 0;
    const polytile_layout backwards = {
        .name = "backwards", .find_owner = deal_backwards, .user = &n_calls};
    const polytile_layout wild = {.name = "wild", .find_owner = deal_wildly};
    const polytile_share_options share = {.layout = row->layout};
    polytile_array *there[2], *back[2];
    polytile_kernel *kernel = NULL;
    polytile_queue *queue = NULL;
    for (int k = 0; k < N * N; k++)
        A[k / N][k % N] = a[k / N][k % N] = k * 7 % 31;
    CHECK_OK(polytile_layout_register(ctx, &backwards));
    CHECK_OK(polytile_layout_register(ctx, &wild));
    CHECK_OK(polytile_kernel_create(ctx, "smooth[i, j]: in A[i-1:i, j], A[i, j+1]; out B[i, j]",
                                    &smooth_kernel, &kernel));
    CHECK_OK(polytile_array_wrap(ctx, "A", POLYTILE_I32, 2, (int64_t[]){N, N}, A, &there[0]));
    CHECK_OK(polytile_array_wrap(ctx, "B", POLYTILE_I32, 2, (int64_t[]){N, N}, B, &there[1]));
    back[0] = there[1];
    back[1] = there[0];
    if (!CHECK_OK(polytile_queue_create_shared(ctx, row->devices, &share, &queue)))
        return;
    CHECK_OK(polytile_queue_attach(queue, 2, there));
    for (int step = 0; step < 3; step++) {
        CHECK_OK(polytile_queue_launch(queue, kernel, POLYTILE_INTERIOR(1, N, N), 2, there, NULL));
        CHECK_OK(polytile_queue_launch(queue, kernel, POLYTILE_INTERIOR(1, N, N), 2, back, NULL));
        smooth_plainly(a, b);
        smooth_plainly(b, a);
    }
    CHECK_OK(polytile_queue_detach(queue, 2, there));
    for (int k = 0; k < N * N; k++) {
        CHECK_EQUAL(A[k / N][k % N], a[k / N][k % N]);
        CHECK_EQUAL(B[k / N][k % N], b[k / N][k % N]);
    }
    CHECK((*row->layout == 'b') == (n_calls > 0));
}

static const struct {
    polytile_layout layout;
    const char *says;
} wrong_layouts[] = {
    {{.name = NULL, .find_owner = deal_wildly}, "a letter first"},
    {{.name = "2nd", .find_owner = deal_wildly}, "a letter first"},
    {{.name = "a b", .find_owner = deal_wildly}, "a letter first"},
    {{.name = "block", .find_owner = deal_wildly}, "there is one of this name"},
    {{.name = "cyclic", .find_owner = deal_wildly}, "there is one of this name"},
    {{.name = "mine"}, "function is NULL"},
    {{.name = "mine", .find_owner = deal_wildly, .reserved = {1}}, "polytile_layout"},
};

TEST_TABLE(ApiLayout, HasANameOfItsOwnAndAFunction, wrong_layouts) {
    CHECK_REFUSED(polytile_layout_register(ctx, &row->layout), POLYTILE_INVALID, row->says);
}

TEST_CASE(ApiLayout, IsRegisteredOnce) {
    const polytile_layout mine = {.name = "mine", .find_owner = deal_wildly};
    CHECK_OK(polytile_layout_register(ctx, &mine));
    CHECK_REFUSED(polytile_layout_register(ctx, &mine), POLYTILE_INVALID, "mine", "there is one");
    CHECK_REFUSED(polytile_layout_register(ctx, NULL), POLYTILE_INVALID, "layout is NULL");
    CHECK_STATUS(polytile_layout_register(NULL, &mine), POLYTILE_INVALID);
}
