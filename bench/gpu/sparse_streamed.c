/* Products with sparse matrices within an eighth of their data, from the second launch on, against
 * copies of all they touch. */
#include "common/csr_kernels.h"
#include "gpu/cases.h"
#include "gpu/gpu.h"
#include "gpu/sparse.h"

enum { LIMIT_PART = 8, REPETITIONS = 15, MOST_PARTS = 6 };

/** An array that is copied whole. */
typedef struct part {
    void *host;
    void *device;
    size_t n_bytes;
} part;

typedef struct streamed {
    sparse_product product;
    int n_parts;
    part in[MOST_PARTS];
    part out;
    cudaStream_t stream_in, stream_out;
} streamed;

static part make_part(void *host, int64_t n_bytes) {
    part made = {.host = host, .n_bytes = (size_t)n_bytes};
    GPU_CALL(cudaMalloc(&made.device, made.n_bytes));
    return made;
}

/** Everything goes in once, and y comes out; where threads add to it, it goes in as well. */
static void list_parts(streamed *s) {
    const bench_csr *of = &s->product.matrix;
    const bool by_entries = s->product.by_entries;
    s->in[s->n_parts++] = make_part(of->V, of->n_entries * 4);
    s->in[s->n_parts++] = make_part(of->K, of->n_entries * 4);
    s->in[s->n_parts++] = make_part(of->x, of->n_rows * 4);
    s->in[s->n_parts++] =
        by_entries ? make_part(of->R, of->n_entries * 4) : make_part(of->P, (of->n_rows + 1) * 4);
    if (by_entries)
        s->in[s->n_parts++] = make_part(of->y, of->n_rows * 4);
    s->out = make_part(of->y, of->n_rows * 4);
    GPU_CALL(cudaMemset(s->out.device, 0, s->out.n_bytes));
    GPU_CALL(cudaStreamCreateWithFlags(&s->stream_in, cudaStreamNonBlocking));
    GPU_CALL(cudaStreamCreateWithFlags(&s->stream_out, cudaStreamNonBlocking));
}

static double time_library(void *subject) {
    streamed *s = subject;
    bench_csr_clear(&s->product.matrix);
    const double start_s = bench_now_s();
    sparse_product_attach_y(&s->product);
    sparse_product_launch(&s->product);
    sparse_product_detach_y(&s->product);
    const double taken_s = bench_now_s() - start_s;
    sparse_product_check(&s->product);
    return taken_s;
}

static double time_copies(void *subject) {
    const streamed *s = subject;
    const double start_s = bench_now_s();
    for (int k = 0; k < s->n_parts; k++)
        GPU_CALL(cudaMemcpyAsync(s->in[k].device, s->in[k].host, s->in[k].n_bytes,
                                 cudaMemcpyHostToDevice, s->stream_in));
    GPU_CALL(cudaMemcpyAsync(s->out.host, s->out.device, s->out.n_bytes, cudaMemcpyDeviceToHost,
                             s->stream_out));
    GPU_CALL(cudaStreamSynchronize(s->stream_in));
    GPU_CALL(cudaStreamSynchronize(s->stream_out));
    return bench_now_s() - start_s;
}

/** What one run moves of what it has to. */
static void report_bytes(const streamed *s, const polytile_report *report, const char *name) {
    bench_times moved = {0};
    double least = (double)s->out.n_bytes;
    for (int k = 0; k < s->n_parts; k++)
        least += (double)s->in[k].n_bytes;
    bench_add_time(&moved,
                   1e-9 * (double)(report->h2d_bytes + report->d2h_bytes) / (REPETITIONS + 1));
    gpu_report_fixed("GB",
                     &(gpu_comparison){.name = name,
                                       .against = "each array once",
                                       .ours = &moved,
                                       .relation = BENCH_NO_TARGET},
                     1e-9 * least);
}

static void run_streamed(const char *generator, bool by_entries, const char *name,
                         const char *bytes_name) {
    streamed s = {0};
    polytile_report report;
    bench_times ours = {0}, copies = {0};
    gpu_begin(GPU_WAITS_AS_EVER);
    sparse_product_create(&s.product, generator, by_entries);
    list_parts(&s);
    sparse_product_open(&s.product, bench_csr_bytes(&s.product.matrix) / LIMIT_PART,
                        by_entries ? csr_entries() : csr_rows());
    gpu_alternate_few(REPETITIONS, time_library, time_copies, &s, &ours, &copies);
    polytile_queue_get_report(s.product.queue, true, &report);
    gpu_report(&(gpu_comparison){.name = name,
                                 .against = "copies of all arrays both ways",
                                 .ours = &ours,
                                 .rival = &copies,
                                 .relation = BENCH_AT_MOST,
                                 .target = 1.1,
                                 .plan_s = report.plan_s / (REPETITIONS + 1)});
    report_bytes(&s, &report, bytes_name);
    sparse_product_close(&s.product);
}

void sparse_uniform_eighth(void) {
    run_streamed("uniform", false, "product, uniform, 10^8 entries, limit 1/8",
                 "the same, what it moves");
}

void sparse_band_eighth(void) {
    run_streamed("band", false, "product, band, 10^8 entries, limit 1/8",
                 "the same, what it moves");
}

void sparse_power_eighth(void) {
    run_streamed("power", true, "product, power law by entries, limit 1/8",
                 "the same, what it moves");
}
