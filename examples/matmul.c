/* C = A B on square matrices that need not fit the device. */
#include "common/fields.h"
#include "common/generate.h"
#include "matmul_blas.h"
#include "matmul_host.h"
#include "matmul_kernels.h"
#include "matmul_reference.h"

static const example_spec spec = {
    .name = "matmul",
    .summary = "Multiplies two n x n matrices of small whole numbers, C = A B, in f32, within a\n"
               "memory limit.",
    .default_n = 4096,
    .least_n = 1,
    .extras = EXAMPLE_SPLIT_K | EXAMPLE_KERNELS | EXAMPLE_TF32,
    .n_inputs = 2,
    .n_outputs = 1,
    .files = "files: --input A, --input B (f32, n x n), --output C",
};

enum { A, B, C, N_ARRAYS };

/* Device memory for the workspace and the code of cuBLAS. */
enum { BLAS_BYTES = 256 * 1024 * 1024 };

/* Products of entries up to 4 add up exactly in f32 for n up to 2^20. */
enum { LARGEST_ENTRY = 4 };
static const uint64_t seeds[] = {1, UINT64_C(1) << 40};

static void fill(float *m, int64_t n, uint64_t seed) {
#pragma omp parallel for
    for (int64_t x = 0; x < n * n; ++x)
        m[x] = (float)small_integer(x, seed, LARGEST_ENTRY);
}

/** Take A and B from files if given, which then set n; generate the others. */
static polytile_status open_arrays(session *s, polytile_array **arrays, field_shape *shape) {
    static const char *const names[] = {"A", "B"};
    TRY(field_open_input(s, A, names[A], 2, &arrays[A]));
    TRY(field_open_input(s, B, names[B], 2, &arrays[B]));
    if (arrays[A] != NULL) {
        shape->extent[0] = shape->extent[1] = field_get_shape(arrays[A]).extent[0];
        TRY(field_require_n(s, shape->extent[0]));
    }
    for (int a = A; a <= B; ++a)
        if (arrays[a] != NULL)
            TRY(field_require_shape(s, arrays[a], shape));
        else
            TRY(field_create(s, names[a], shape, &arrays[a]));
    return field_create_output(s, 0, "C", shape, &arrays[C]);
}

static void check(const session *s, float *const *data, result *r) {
    int64_t n = r->shape[0];
    r->checked = true;
    r->max_error = matmul_compare(data[A], data[B], data[C], n);
    if (s->options.n_inputs > 0)
        r->tolerance = matmul_rounding_bound(data[A], data[B], n);
}

static polytile_status run(session *s, const session_launch *launch, result *r) {
    float *data[N_ARRAYS];
    for (int a = 0; a < N_ARRAYS; ++a)
        data[a] = polytile_array_get_data(launch->arrays[a]);
    for (int a = s->options.n_inputs; a < C; ++a)
        fill(data[a], r->shape[0], seeds[a]);
    for (int64_t repetition = 0; repetition < s->options.repeat; ++repetition)
        TRY(session_run(s, launch, r));
    if (s->options.check)
        check(s, data, r);
    return POLYTILE_OK;
}

/** The two ways to declare the product, and what computes each. */
static const struct product {
    const char *declaration;
    int n_indices;
    const polytile_implementation *(*plain)(void);
    polytile_host_function *blocked;
    polytile_launcher *by_blas;
} whole = {MATMUL_DECLARATION, 2, matmul_implementation, matmul_on_host, matmul_by_blas},
  split = {GEMM_DECLARATION, 3, gemm_implementation, gemm_on_host, gemm_by_blas};

/** Return the kernels that the user wants; blas: NULL unless cuBLAS is used. */
static polytile_implementation implementation(const session *s, const struct product *product,
                                              void *blas) {
    polytile_implementation chosen = *product->plain();
    if (s->options.kernel != EXAMPLE_PLAIN_KERNEL)
        chosen.host = product->blocked;
    if (blas != NULL) {
        chosen.user = blas;
        chosen.cuda_launcher = product->by_blas;
    }
    return chosen;
}

static polytile_status multiply(session *s, void *blas, result *r) {
    polytile_array *arrays[N_ARRAYS];
    polytile_kernel *kernel;
    polytile_plan *plan;
    const struct product *product = s->options.split_k ? &split : &whole;
    polytile_implementation kernels = implementation(s, product, blas);
    int64_t n = s->options.n > 0 ? s->options.n : spec.default_n;
    field_shape shape = {POLYTILE_F32, 2, {n, n}};
    TRY(session_check_block(s, product->n_indices));
    TRY(open_arrays(s, arrays, &shape));
    n = shape.extent[0];
    polytile_domain threads =
        polytile_domain_from_extents(product->n_indices, (const int64_t[]){n, n, n});
    TRY(polytile_kernel_create(s->ctx, product->declaration, &kernels, &kernel));
    TRY(polytile_plan_create(kernel, &threads, polytile_kernel_get_n_arrays(kernel), arrays,
                             &s->launch_options, &plan));
    r->type = shape.type;
    r->n_dims = 2;
    r->shape[0] = r->shape[1] = n;
    polytile_plan_get_summary(plan, &r->plan);
    session_launch launch = {.kernel = kernel,
                             .threads = &threads,
                             .plan = plan,
                             .n_arrays = N_ARRAYS,
                             .arrays = arrays};
    return s->options.plan_only ? POLYTILE_OK : run(s, &launch, r);
}

/** Check the conditions of TF32: it needs cuBLAS, and only small integers come out exact. */
static polytile_status check_tf32(session *s) {
    if (!s->options.tf32)
        return POLYTILE_OK;
    if (!s->is_cuda || s->options.kernel == EXAMPLE_PLAIN_KERNEL)
        return session_fail(
            s, POLYTILE_UNSUPPORTED,
            "--tf32 is for cuBLAS on a GPU; use it with --device cuda:K and without "
            "--kernel plain");
    if (!matmul_has_blas)
        return session_fail(s, POLYTILE_UNSUPPORTED,
                            "--tf32 needs cuBLAS, and this program was built without it");
    return POLYTILE_OK;
}

/** Set what plans assume of the kernel in TF32: about six times the rate of f32. */
static void assume_tf32(session *s, polytile_link *link) {
    *link =
        s->launch_options.plan.link != NULL ? *s->launch_options.plan.link : polytile_link_default;
    link->kernel_accesses_per_s *= 6;
    s->launch_options.plan.link = link;
}

/** Start cuBLAS on each GPU of this process. */
static polytile_status start_blas(session *s, void *blas) {
    bool is_started = blas != NULL;
    for (int d = s->own; d < s->own + s->n_own; ++d) {
        int device = device_text_cuda(&s->devices.device[d]);
        is_started = is_started && (device < 0 || matmul_blas_start(blas, device));
    }
    if (is_started)
        return POLYTILE_OK;
    return session_fail(s, POLYTILE_DEVICE,
                        "cuBLAS does not start on %s, which may have too little memory free; "
                        "use --kernel plain",
                        s->device_text);
}

/** Start cuBLAS if it is wanted and available. It takes memory of its own, which is left to it if
 * the user sets no limit. */
static polytile_status open_blas(session *s, void **blas) {
    bool is_wanted = s->options.kernel == EXAMPLE_BLAS_KERNEL;
    *blas = NULL;
    TRY(check_tf32(s));
    if (!s->is_cuda || s->options.plan_only || s->options.kernel == EXAMPLE_PLAIN_KERNEL)
        return POLYTILE_OK;
    if (!matmul_has_blas)
        return is_wanted ? session_fail(s, POLYTILE_UNSUPPORTED,
                                        "this program was built without cuBLAS; use --kernel plain")
                         : POLYTILE_OK;
    *blas = matmul_blas_create(s->options.tf32);
    TRY(start_blas(s, *blas));
    if (!s->has_limit && s->launch_options.plan.limit_bytes > 2 * BLAS_BYTES)
        s->launch_options.plan.limit_bytes -= BLAS_BYTES;
    return POLYTILE_OK;
}

static polytile_status matmul(session *s, result *r) {
    void *blas;
    polytile_link link;
    polytile_status status = open_blas(s, &blas);
    if (s->options.tf32)
        assume_tf32(s, &link);
    if (status == POLYTILE_OK)
        status = multiply(s, blas, r);
    matmul_blas_destroy(blas);
    return status;
}

int main(int argc, char **argv) {
    return example_main(&spec, argc, argv, matmul);
}
