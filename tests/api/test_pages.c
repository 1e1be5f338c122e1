#include <polytile/compile.h>
#include <polytile/kernel.h>
#include <polytile/message.h>
#include <polytile/polytile.h>

#include "support/c_test.h"

#include <stdatomic.h>
#include <stdio.h>

/* Code that the pages quote and that is no program of its own, word by word:
 * tests/architecture/test_docs.cc compares them. Where a page names a GPU, the code is compiled and
 * not run. */

/* Pages leave out members that are zero, and functions may leave out what they are given. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wunused-parameter"

enum { LENGTH = 100, WIDTH = 64 };

static float x_data[LENGTH], y_data[LENGTH], z_data[LENGTH];
static float A_data[WIDTH * WIDTH], B_data[WIDTH * WIDTH];

static polytile_array *wrap(polytile_context *ctx, const char *name, int n_dims, float *data) {
    polytile_array *array = NULL;
    CHECK_OK(polytile_array_wrap(ctx, name, POLYTILE_F32, n_dims,
                                 n_dims == 1 ? (int64_t[]){LENGTH} : (int64_t[]){WIDTH, WIDTH},
                                 data, &array));
    return array;
}

static polytile_device *open_host(polytile_context *ctx) {
    polytile_device *device = NULL;
    CHECK_OK(polytile_device_open(ctx, "host", &device));
    return device;
}

/* docs/declarations.md */

POLYTILE_KERNEL(shift, (i), (int64_t, n), (float, a), (const float, x, 1), (float, y, 1)) {
    PT_AT(y, i) += a * PT_AT(x, i + n);
}

TEST_CASE(ApiPages, GiveParametersWithALaunch) {
    polytile_device *device = open_host(ctx);
    polytile_array *x = wrap(ctx, "x", 1, x_data), *y = wrap(ctx, "y", 1, y_data);
    polytile_kernel *shift = NULL;
    for (int i = 0; i < LENGTH; i++) {
        x_data[i] = (float)i;
        y_data[i] = 1;
    }
    // clang-format off
    polytile_kernel_create(ctx, "shift[i](f32 a): in x[i+n]; inout y[i]", &shift_kernel, &shift);
    polytile_run(device, shift, POLYTILE_EXTENTS(90), POLYTILE_ARRAYS(x, y),
                 POLYTILE_PARAMETERS(POLYTILE_PARAMETER("a", 2.5f), POLYTILE_PARAMETER("n", 10)));
    // clang-format on
    CHECK_NEAR(y_data[89], 1 + 2.5 * 99, 0);
    CHECK_NEAR(y_data[90], 1, 0);
}

/* docs/kernels.md */

// clang-format off
#include <polytile/kernel.h>

PT_FUNCTION float mean(float a, float b, float c, float d) {
    return 0.25f * ((a + b) + (c + d));
}

POLYTILE_KERNEL(jacobi, (i, j), (const float, A, 2), (float, B, 2)) {
    PT_AT(B, i, j) = mean(PT_AT(A, i-1, j), PT_AT(A, i+1, j), PT_AT(A, i, j-1), PT_AT(A, i, j+1));
}

POLYTILE_KERNEL(saxpy, (i), (float, a), (const float, x, 1), (float, y, 1)) {
    PT_AT(y, i) += a * PT_AT(x, i);
}

POLYTILE_KERNEL(peak, (i), (const float, x, 1), (pt_f32_i64, s, 1)) {
    PT_ARGMAX(PT_AT(s, 0), PT_AT(x, i), i);
}

#include <polytile/kernel_view.h>

static void scale_on_host(const polytile_domain *threads, const polytile_view *views, void *user) {
    (void)user;
    PT_VIEW(float, x, 1, views[0]);
    PT_PARAMETER(float, a, views[1]);
    for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
        PT_AT(x, i) *= a;
}
// clang-format on

// clang-format off
/* paths[s]: in G[:]; scratch i32 queue[s, 0:n-1], u8 seen[s, 0:n-1]; out D[s, :] */
POLYTILE_KERNEL(paths, (s), (int64_t, n), (const int32_t, G, 1), (int32_t, queue, 2),
                (uint8_t, seen, 2),
                (int32_t, D, 2)) {
    for (int64_t v = 0; v < n; v++)
        PT_AT(seen, s, v) = 0;
    // clang-format on
    PT_AT(seen, s, PT_AT(G, 0)) = 1;
    PT_AT(queue, s, 0) = PT_AT(G, 0);
    for (int64_t v = 0; v < n; v++)
        PT_AT(D, s, v) = PT_AT(seen, s, v);
}

TEST_CASE(ApiPages, HaveScratch) {
    polytile_array *G = NULL, *D = NULL;
    polytile_kernel *paths = NULL;
    const int32_t nodes[4] = {2, 0, 0, 0};
    int32_t found[2][4] = {{0}};
    CHECK_OK(polytile_array_wrap(ctx, "G", POLYTILE_I32, 1, (int64_t[]){4}, (void *)nodes, &G));
    CHECK_OK(polytile_array_wrap(ctx, "D", POLYTILE_I32, 2, (int64_t[]){2, 4}, found, &D));
    CHECK_OK(polytile_kernel_create(
        ctx, "paths[s]: in G[:]; scratch i32 queue[s, 0:n-1], u8 seen[s, 0:n-1]; out D[s, :]",
        &paths_kernel, &paths));
    CHECK_OK(polytile_run(open_host(ctx), paths, POLYTILE_EXTENTS(2), POLYTILE_ARRAYS(G, D),
                          POLYTILE_PARAMETERS(POLYTILE_PARAMETER("n", 4))));
    CHECK_EQUAL(found[1][2], 1);
    CHECK_EQUAL(found[1][3], 0);
}

TEST_CASE(ApiPages, BuildADeclarationByCalls) {
    polytile_array *A = wrap(ctx, "A", 2, A_data), *B = wrap(ctx, "B", 2, B_data);
    polytile_kernel *jacobi = NULL;
    const polytile_implementation implementation = jacobi_kernel;
    for (int i = 0; i < WIDTH * WIDTH; i++)
        A_data[i] = (float)(i / WIDTH);
    // clang-format off
    const char *indices[] = {"i", "j"};
    polytile_declaration *stencil;
    polytile_declaration_create(ctx, "jacobi", 2, indices, 0, NULL, &stencil);

    const polytile_affine i = {.index = {1, 0}}, j = {.index = {0, 1}};
    const polytile_affine i_less_1 = {-1, {1, 0}}, i_plus_1 = {1, {1, 0}};
    const polytile_affine j_less_1 = {-1, {0, 1}}, j_plus_1 = {1, {0, 1}};
    const polytile_subscript column[] = {{i_less_1, i_plus_1, 1}, {j, j, 1}};
    const polytile_subscript row[] = {{i, i, 1}, {j_less_1, j_plus_1, 1}};
    const polytile_subscript point[] = {{i, i, 1}, {j, j, 1}};
    polytile_declaration_add(stencil, POLYTILE_IN, false, "A", 2, column);
    polytile_declaration_add(stencil, POLYTILE_IN, false, "A", 2, row);
    polytile_declaration_add(stencil, POLYTILE_OUT, false, "B", 2, point);
    polytile_kernel_create_from(stencil, &implementation, &jacobi);
    // clang-format on
    CHECK_OK(polytile_run(open_host(ctx), jacobi, POLYTILE_INTERIOR(1, WIDTH, WIDTH),
                          POLYTILE_ARRAYS(A, B), NULL));
    CHECK_NEAR(B_data[5 * WIDTH + 7], 5, 0);
}

TEST_CASE(ApiPages, HaveBodiesThatRun) {
    polytile_device *device = open_host(ctx);
    polytile_array *x = wrap(ctx, "x", 1, x_data), *y = wrap(ctx, "y", 1, y_data), *s = NULL;
    polytile_kernel *saxpy = NULL, *peak = NULL, *scale = NULL;
    const polytile_implementation by_hand = {.host = scale_on_host};
    pt_f32_i64 found;
    for (int i = 0; i < LENGTH; i++) {
        x_data[i] = (float)(i * (LENGTH - 1 - i));
        y_data[i] = 1;
    }
    CHECK_OK(polytile_array_wrap(ctx, "s", POLYTILE_INDEXED(POLYTILE_F32), 1, (int64_t[]){1},
                                 &found, &s));
    CHECK_OK(
        polytile_kernel_create(ctx, "saxpy[i](f32 a): in x[i]; inout y[i]", &saxpy_kernel, &saxpy));
    CHECK_OK(polytile_kernel_create(ctx, "peak[i]: in x[i]; out argmax s[0]", &peak_kernel, &peak));
    CHECK_OK(polytile_kernel_create(ctx, "scale[i](f32 a): inout x[i]", &by_hand, &scale));
    CHECK_OK(polytile_run(device, saxpy, POLYTILE_EXTENTS(LENGTH), POLYTILE_ARRAYS(x, y),
                          POLYTILE_PARAMETERS(POLYTILE_PARAMETER("a", 2))));
    CHECK_OK(polytile_run(device, peak, POLYTILE_EXTENTS(LENGTH), POLYTILE_ARRAYS(x, s), NULL));
    CHECK_OK(polytile_run(device, scale, POLYTILE_EXTENTS(LENGTH), POLYTILE_ARRAYS(x),
                          POLYTILE_PARAMETERS(POLYTILE_PARAMETER("a", 3))));
    CHECK_NEAR(y_data[1], 1 + 2 * 98, 0);
    CHECK_EQUAL(found.index, 49);
    CHECK_NEAR(x_data[1], 3 * 98, 0);
}

// clang-format off
POLYTILE_KERNEL(rows, (i), (const float, V, 1), (const int32_t, P, 1), (const float, x, 1),
                (const int32_t, K, 1), (float, y, 1)) {
    float sum = 0;
    PT_SUM_RANGE(sum, e, PT_AT(P, i), PT_AT(P, i + 1) - 1, (V, x, K),
                 PT_AT(V, e) * PT_AT(x, PT_AT(K, e)));
    PT_AT(y, i) = sum;
}
// clang-format on

static polytile_array *wrap_line(polytile_context *ctx, const char *name, polytile_type type,
                                 int64_t length, void *data) {
    polytile_array *array = NULL;
    CHECK_OK(polytile_array_wrap(ctx, name, type, 1, &length, data, &array));
    return array;
}

TEST_CASE(ApiPages, GoThroughRanges) {
    float values[4] = {1, 2, 3, 4}, x[3] = {1, 10, 100}, y[3] = {-1, -1, -1};
    int32_t begins[4] = {0, 1, 1, 4}, columns[4] = {2, 0, 1, 2};
    polytile_kernel *by_rows = NULL;
    CHECK_OK(polytile_kernel_create(
        ctx,
        "rows[i]: in V[P[i]:P[i+1]-1], P[i:i+1], x[K[P[i]:P[i+1]-1]], K[P[i]:P[i+1]-1]; out y[i]",
        &rows_kernel, &by_rows));
    CHECK_OK(polytile_run(open_host(ctx), by_rows, POLYTILE_EXTENTS(3),
                          POLYTILE_ARRAYS(wrap_line(ctx, "V", POLYTILE_F32, 4, values),
                                          wrap_line(ctx, "P", POLYTILE_I32, 4, begins),
                                          wrap_line(ctx, "x", POLYTILE_F32, 3, x),
                                          wrap_line(ctx, "K", POLYTILE_I32, 4, columns),
                                          wrap_line(ctx, "y", POLYTILE_F32, 3, y)),
                          NULL));
    CHECK_NEAR(y[0], 100, 0);
    CHECK_NEAR(y[1], 0, 0);
    CHECK_NEAR(y[2], 2 + 30 + 400, 0);
}

/* docs/arrays.md */

TEST_CASE(ApiPages, WrapMemory) {
    const int64_t n = WIDTH, m = WIDTH, stride_bytes[] = {WIDTH * 4, 4};
    const polytile_domain domain = polytile_domain_from_extents(2, (int64_t[]){n, m});
    float *memory = A_data;
    polytile_array *A = NULL, *part = NULL;
    // clang-format off
    polytile_array_wrap(ctx, "A", POLYTILE_F32, 2, (int64_t[]){n, m}, memory, &A);
    polytile_array_wrap_domain(ctx, "A", POLYTILE_F32, &domain, memory, &A);
    polytile_array_wrap_strides(ctx, "A", POLYTILE_F32, &domain, stride_bytes, memory, &A);
    // clang-format on
    CHECK_TEXT(polytile_last_error(ctx), "");
    // clang-format off
    polytile_domain inner = polytile_domain_from_bounds(2, (int64_t[]){1, 1},
                                                        (int64_t[]){n - 2, m - 2});
    polytile_domain even_rows = {2, {{0, n - 2, 2}, {0, m - 1, 1}}};
    polytile_array_select(A, "inner", &inner, &part);
    polytile_array_select(A, "even", &even_rows, &part);
    // clang-format on
    CHECK_TEXT(polytile_last_error(ctx), "");
    CHECK_EQUAL(polytile_array_get_domain(part)->range[0].step, 2);
}

POLYTILE_KERNEL(add_halves, (i, k, j), (float, x, 4)) {
    const float sum = PT_AT(x, i, 0, k, j) + PT_AT(x, i, 1, k, j);
    PT_AT(x, i, 1, k, j) = PT_AT(x, i, 0, k, j) - PT_AT(x, i, 1, k, j);
    PT_AT(x, i, 0, k, j) = sum;
}

TEST_CASE(ApiPages, LaunchOverViews) {
    const int64_t rows = WIDTH, columns = WIDTH, h = 2;
    polytile_array *matrix = wrap(ctx, "A", 2, A_data), *x = NULL;
    polytile_kernel *butterflies = NULL;
    polytile_queue *queue = NULL;
    for (int i = 0; i < WIDTH * WIDTH; i++)
        A_data[i] = (float)(i / WIDTH);
    CHECK_OK(polytile_kernel_create(ctx, "halves[i, k, j]: inout x[i, 0:1, k, j]",
                                    &add_halves_kernel, &butterflies));
    CHECK_OK(polytile_queue_create(ctx, "host(memory=8KiB)", &queue));
    // clang-format off
    polytile_queue_attach(queue, 1, &matrix);
    polytile_array_reshape(matrix, "x", POLYTILE_EXTENTS(rows / (2 * h), 2, h, columns), &x);
    polytile_queue_launch(queue, butterflies, POLYTILE_EXTENTS(rows / (2 * h), h, columns), 1,
                          &x, NULL);
    // clang-format on
    CHECK_OK(polytile_queue_detach(queue, POLYTILE_ARRAYS(matrix)));
    CHECK_NEAR(A_data[4 * WIDTH], 4 + 6, 0);
    CHECK_NEAR(A_data[6 * WIDTH], 4 - 6, 0);
}

/* docs/messages.md */

// clang-format off
#include <polytile/message.h>

POLYTILE_TEAM_KERNEL(rotate, (s), (float, A, 2)) {
    const int right = (pt_rank() + 1) % pt_ranks(),
              left = (pt_rank() + pt_ranks() - 1) % pt_ranks();
    pt_sendrecv_replace(&PT_AT(A, s, 0), 64 * sizeof(float), right, left, 0, NULL);
}
// clang-format on

TEST_CASE(ApiPages, RotateRows) {
    polytile_array *A = wrap(ctx, "A", 2, A_data);
    polytile_queue *queue = NULL;
    polytile_kernel *kernel = NULL;
    for (int i = 0; i < WIDTH * WIDTH; i++)
        A_data[i] = (float)(i / WIDTH);
    CHECK_OK(polytile_queue_create(ctx, "host", &queue));
    CHECK_OK(polytile_queue_attach(queue, POLYTILE_ARRAYS(A)));
    // clang-format off
    polytile_kernel_create(ctx, "rotate[s]: inout A[s, :]", &rotate_kernel, &kernel);
    polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(16), POLYTILE_ARRAYS(A), NULL);
    // clang-format on
    CHECK_OK(polytile_queue_detach(queue, POLYTILE_ARRAYS(A)));
    CHECK_NEAR(A_data[0], 15, 0);
    CHECK_NEAR(A_data[WIDTH], 0, 0);
}

/* docs/mpi.md */

// clang-format off
static int owner(const polytile_layout_dimension *of, int64_t index, int64_t *last, void *user) {
    *last = of->last;                      /* the second half is the last part's */
    if (index - of->first < (of->last - of->first) / 2)
        *last = (of->first + of->last) / 2 - 1;
    return *last == of->last ? of->n_parts - 1 : 0;
}
// clang-format on

TEST_CASE(ApiPages, ShareInHalves) {
    polytile_share_options share = {.layout = "halves"};
    polytile_queue *queue = NULL;
    // clang-format off
    polytile_layout_register(ctx, &(polytile_layout){.name = "halves", .find_owner = owner});
    // clang-format on
    CHECK_OK(polytile_queue_create_shared(ctx, "host,host", &share, &queue));
}

/* docs/queue.md */

POLYTILE_KERNEL(distance, (i, j), (const float, A, 2), (const float, B, 2), (double, s, 1)) {
    PT_SUM(PT_AT(s, 0), (double)(PT_AT(A, i, j) - PT_AT(B, i, j)));
}

POLYTILE_KERNEL(norm_of, (i, j), (const float, A, 2), (double, s, 1)) {
    PT_SUM(PT_AT(s, 0), (double)PT_AT(A, i, j));
}

static polytile_array *wrap_sum(polytile_context *ctx, double *sum) {
    polytile_array *array = NULL;
    CHECK_OK(polytile_array_wrap(ctx, "s", POLYTILE_F64, 1, (int64_t[]){1}, sum, &array));
    return array;
}

static polytile_kernel *make_norm(polytile_context *ctx) {
    polytile_kernel *norm = NULL;
    CHECK_OK(polytile_kernel_create(ctx, "norm[i, j]: in A[i, j]; out sum s[0]", &norm_of_kernel,
                                    &norm));
    return norm;
}

static polytile_kernel *make_jacobi(polytile_context *ctx) {
    polytile_kernel *jacobi = NULL;
    CHECK_OK(polytile_kernel_create(ctx,
                                    "jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
                                    &jacobi_kernel, &jacobi));
    return jacobi;
}

/* Compiled alone: the page has a GPU. */
static void queue_many_steps(polytile_context *ctx, polytile_array *A, polytile_kernel *jacobi,
                             int64_t n) {
    const polytile_domain interior = {2, {{1, n - 2, 1}, {1, n - 2, 1}}};
    // clang-format off
    polytile_queue *queue;
    polytile_array *B;
    polytile_queue_create(ctx, "cuda:0(memory=2GiB)", &queue);
    polytile_queue_attach(queue, POLYTILE_ARRAYS(A));
    polytile_queue_create_array(queue, "B", POLYTILE_F32, 2, (int64_t[]){n, n}, &B);
    for (int step = 0; step < 100; step += 2) {
        polytile_queue_launch(queue, jacobi, &interior, POLYTILE_ARRAYS(A, B), NULL);
        polytile_queue_launch(queue, jacobi, &interior, POLYTILE_ARRAYS(B, A), NULL);
    }
    if (polytile_queue_detach(queue, POLYTILE_ARRAYS(A)))
        fprintf(stderr, "%s\n", polytile_last_error(ctx));
    polytile_queue_destroy(queue);
    // clang-format on
}

/* Compiled alone: the pages have a GPU. */
static void share_by_a_policy(polytile_context *ctx, polytile_queue *queue) {
    // clang-format off
    polytile_share_options share = {.policy = "guided"};
    polytile_queue_create_shared(ctx, "cuda:0,host", &share, &queue);
    // clang-format on
}

static void share_by_weights(polytile_context *ctx, polytile_queue *queue) {
    // clang-format off
    polytile_share_options share = {.layout = "weighted(3,1)"};
    polytile_queue_create_shared(ctx, "cuda:0,host", &share, &queue);
    // clang-format on
}

TEST_CASE(ApiPages, HaveCodeForGpusThatCompiles) {
    CHECK(queue_many_steps != NULL && share_by_a_policy != NULL && share_by_weights != NULL);
}

TEST_CASE(ApiPages, DiscardAndDestroyScratch) {
    polytile_array *A = wrap(ctx, "A", 2, A_data), *B = NULL;
    polytile_kernel *jacobi = make_jacobi(ctx);
    polytile_queue *queue = NULL;
    for (int i = 0; i < WIDTH * WIDTH; i++)
        A_data[i] = (float)(i / WIDTH);
    CHECK_OK(polytile_queue_create(ctx, "host(memory=8KiB)", &queue));
    CHECK_OK(polytile_queue_attach(queue, POLYTILE_ARRAYS(A)));
    CHECK_OK(
        polytile_queue_create_array(queue, "B", POLYTILE_F32, 2, (int64_t[]){WIDTH, WIDTH}, &B));
    CHECK_OK(polytile_queue_launch(queue, jacobi, POLYTILE_INTERIOR(1, WIDTH, WIDTH),
                                   POLYTILE_ARRAYS(A, B), NULL));
    // clang-format off
    polytile_queue_discard(queue, POLYTILE_ARRAYS(B));
    /* B is used on: launches write it before they read it */
    polytile_queue_wait(queue);

    polytile_array_destroy(B);                         /* B is not used on */
    polytile_queue_detach(queue, POLYTILE_ARRAYS(A));
    // clang-format on
    CHECK_NEAR(A_data[WIDTH], 1, 0);
}

// clang-format off
static void has_norm(polytile_status status, void *user) {
    atomic_store((_Atomic int *)user, status == POLYTILE_OK ? 1 : -1);
}
// clang-format on

static double drawn;

static void draw(polytile_progress progress) {
    drawn = progress.fraction;
}

TEST_CASE(ApiPages, GoOnWhileANormIsFound) {
    double sum = -1;
    _Atomic int state = 0;
    polytile_array *A = wrap(ctx, "A", 2, A_data), *B = wrap(ctx, "B", 2, B_data);
    polytile_array *s = wrap_sum(ctx, &sum);
    polytile_kernel *norm = NULL;
    polytile_queue *queue = NULL;
    const polytile_domain interior = {2, {{0, WIDTH - 1, 1}, {0, WIDTH - 1, 1}}};
    for (int i = 0; i < WIDTH * WIDTH; i++) {
        A_data[i] = 1;
        B_data[i] = 0.5f;
    }
    CHECK_OK(polytile_kernel_create(ctx, "norm[i, j]: in A[i, j], B[i, j]; out sum s[0]",
                                    &distance_kernel, &norm));
    CHECK_OK(polytile_queue_create(ctx, "host", &queue));
    CHECK_OK(polytile_queue_attach(queue, POLYTILE_ARRAYS(A, B, s)));
    // clang-format off
    polytile_queue_launch(queue, norm, &interior, POLYTILE_ARRAYS(A, B, s), NULL);
    polytile_queue_notify(queue, s, has_norm, &state);           /* and go on queueing */
    while (!polytile_queue_test(queue, s))
        draw(polytile_queue_get_progress(queue));
    // clang-format on
    CHECK_OK(polytile_queue_wait(queue));
    CHECK_EQUAL(atomic_load(&state), 1);
    CHECK_NEAR(sum, WIDTH * WIDTH / 2, 0);
    CHECK(drawn >= 0);
}

// clang-format off
typedef struct { const double *norm; double least; atomic_bool has_converged;
                 polytile_queue *queue; } watch;

static void look(polytile_status status, void *user) {
    watch *w = user;
    if (status == POLYTILE_OK && *w->norm < w->least) {
        atomic_store(&w->has_converged, true);
        polytile_queue_cancel(w->queue);          /* nothing behind this step runs */
    }
}
// clang-format on

POLYTILE_KERNEL(halve, (i, j), (float, A, 2)) {
    PT_AT(A, i, j) /= 2;
}

static polytile_kernel *halve;
static polytile_array *halved;

static void queue_steps(polytile_queue *queue, int n_steps) {
    for (int step = 0; step < n_steps; step++)
        polytile_queue_launch(queue, halve, POLYTILE_EXTENTS(WIDTH, WIDTH), POLYTILE_ARRAYS(halved),
                              NULL);
}

/* From 1 each, halved until all together are below 100: after 6 steps, of which 2 are taken at a
 * time. What is queued behind that is cancelled, if there is something. */
TEST_CASE(ApiPages, StopWhenANormIsSmall) {
    const int k = 2;
    const polytile_domain interior = {2, {{0, WIDTH - 1, 1}, {0, WIDTH - 1, 1}}};
    double sums[2] = {1e9, 1e9};
    polytile_array *A = wrap(ctx, "A", 2, A_data), *s[2];
    polytile_kernel *norm = make_norm(ctx);
    polytile_queue *queue = NULL;
    for (int i = 0; i < WIDTH * WIDTH; i++)
        A_data[i] = 1;
    halved = A;
    CHECK_OK(polytile_kernel_create(ctx, "halve[i, j]: inout A[i, j]", &halve_kernel, &halve));
    CHECK_OK(polytile_queue_create(ctx, "host", &queue));
    for (int turn = 0; turn < 2; turn++)
        s[turn] = wrap_sum(ctx, &sums[turn]);
    CHECK_OK(polytile_queue_attach(queue, POLYTILE_ARRAYS(A, s[0], s[1])));
    watch w[2] = {{&sums[0], 100, false, queue}, {&sums[1], 100, false, queue}};
    // clang-format off
    for (int turn = 0; !atomic_load(&w[0].has_converged) && !atomic_load(&w[1].has_converged);
         turn = 1 - turn) {
        queue_steps(queue, k);
        polytile_queue_launch(queue, norm, &interior, POLYTILE_ARRAYS(A, s[turn]), NULL);
        /* out sum s[0] */
        polytile_queue_notify(queue, s[turn], look, &w[turn]);
        if (polytile_queue_wait_for(queue, s[1 - turn]) != POLYTILE_OK) /* of the k steps before */
            break;
    }
    // clang-format on
    const polytile_status ended = polytile_queue_wait(queue);
    CHECK(ended == POLYTILE_OK || ended == POLYTILE_CANCELLED);
    CHECK_NEAR(sums[0], WIDTH * WIDTH / 64, 0);
}

/* docs/text.md */

TEST_CASE(ApiPages, CompileText) {
    polytile_array *x = wrap(ctx, "x", 1, x_data), *y = wrap(ctx, "y", 1, y_data);
    polytile_array *z = wrap(ctx, "z", 1, z_data);
    for (int i = 0; i < LENGTH; i++)
        x_data[i] = y_data[i] = (float)i;
        // clang-format off
#include <polytile/compile.h>

    polytile_kernel *add;
    polytile_kernel_compile(ctx, "add[i]: in x[i], y[i]; out z[i]", "z(i) = x(i) + y(i);", NULL,
                            &add);
    // clang-format on
    CHECK_OK(polytile_run(open_host(ctx), add, POLYTILE_EXTENTS(LENGTH), POLYTILE_ARRAYS(x, y, z),
                          NULL));
    CHECK_NEAR(z_data[9], 18, 0);
}

TEST_CASE(ApiPages, CompileTextForTypes) {
    const char *declaration = "add[i]: in x[i], y[i]; out z[i]", *body = "z(i) = x(i) + y(i);";
    polytile_kernel *add = NULL;
    // clang-format off
    const polytile_type types[] = {POLYTILE_F32, POLYTILE_F32, POLYTILE_F32};
    const polytile_compile_options options = {.n_types = 3, .types = types};
    polytile_kernel_compile(ctx, declaration, body, &options, &add);
    // clang-format on
    CHECK(add != NULL);
}

TEST_CASE(ApiPages, ShowTheLineOfAnError) {
    polytile_array *x = wrap(ctx, "x", 1, x_data), *y = wrap(ctx, "y", 1, y_data);
    polytile_array *z = wrap(ctx, "z", 1, z_data);
    polytile_kernel *add = NULL;
    CHECK_OK(polytile_kernel_compile(ctx, "add[i]: in x[i], y[i]; out z[i]", "z(i) = x(i) + w(i);",
                                     NULL, &add));
    CHECK(polytile_run(open_host(ctx), add, POLYTILE_EXTENTS(LENGTH), POLYTILE_ARRAYS(x, y, z),
                       NULL) == POLYTILE_DECLARATION);
    CHECK_TEXT(polytile_last_error(ctx),
               "add: in the body, w is unknown; the declaration has index i; array x, y, z "
               "(column 15)\n"
               "  z(i) = x(i) + w(i);\n"
               "                ^");
}

/* docs/tuning.md */

TEST_CASE(ApiPages, SayWhatAKernelIsLike) {
    polytile_kernel *matrix_add = make_jacobi(ctx);
    // clang-format off
    const polytile_character character = {.coalescing = POLYTILE_COALESCING_FULL,
                                          .arithmetic = POLYTILE_LEVEL_LOW,
                                          .reuse = POLYTILE_LEVEL_LOW};
    polytile_kernel_characterise(matrix_add, &character);
    // clang-format on
    CHECK_TEXT(polytile_last_error(ctx), "");
}
