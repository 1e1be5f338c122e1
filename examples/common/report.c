#include "report.h"

#include "count.h"

#include <stdio.h>

polytile_report report_of_queue(session *s, double total_s, int64_t lower_bound_bytes) {
    enum { KERNELS, H2D, D2H, P2P, PLAN, COMPUTE, TRANSFER, N_SUMS };
    polytile_report own;
    polytile_queue_get_report(s->queue, true, &own);
    double sum[N_SUMS] = {
        [KERNELS] = (double)own.n_kernels,
        [H2D] = (double)own.h2d_bytes,
        [D2H] = (double)own.d2h_bytes,
        [P2P] = (double)own.p2p_bytes,
        [PLAN] = own.plan_s,
        [COMPUTE] = own.compute_s,
        [TRANSFER] = own.transfer_s,
    };
    ranks_add(&s->ranks, N_SUMS, sum);
    return (polytile_report){.n_kernels = (int64_t)sum[KERNELS],
                             .peak_device_bytes =
                                 (int64_t)ranks_largest(&s->ranks, (double)own.peak_device_bytes),
                             .h2d_bytes = (int64_t)sum[H2D],
                             .d2h_bytes = (int64_t)sum[D2H],
                             .p2p_bytes = (int64_t)sum[P2P],
                             .lower_bound_bytes = lower_bound_bytes,
                             .plan_s = sum[PLAN],
                             .run_s = ranks_largest(&s->ranks, total_s),
                             .compute_s = sum[COMPUTE],
                             .transfer_s = sum[TRANSFER]};
}

void report_keep_fastest(result *r, const polytile_report *repetition) {
    if (!r->ran || repetition->run_s < r->run.run_s)
        r->run = *repetition;
    r->ran = true;
}

/** Return the figures of what ran, or of the plan. */
static polytile_report figures(const result *r) {
    polytile_report planned = {
        .n_kernels = r->plan.n_kernels,
        .peak_device_bytes = r->plan.peak_device_bytes,
        .h2d_bytes = r->plan.h2d_bytes,
        .d2h_bytes = r->plan.d2h_bytes,
        .lower_bound_bytes = r->plan.lower_bound_bytes,
    };
    return r->ran ? r->run : planned;
}

static const char *type_text(polytile_type type) {
    static const char *const names[] = {
#define TYPE_NAME(name, text, bytes) text,
        POLYTILE_TYPES(TYPE_NAME)
#undef TYPE_NAME
    };
    return names[type];
}

static void print_numbers(const int64_t *numbers, int n, const char *between) {
    for (int d = 0; d < n; ++d)
        printf("%s%lld", d > 0 ? between : "", (long long)numbers[d]);
}

static void print_size(const char *label, int64_t bytes) {
    char size[32];
    printf("  %-13s %s\n", label, polytile_size_format(bytes, size));
}

static void print_plan(const result *r) {
    printf("  %-13s %s, %d buffer%s, blocks of ", "strategy", r->plan.strategy, r->plan.n_buffers,
           r->plan.n_buffers == 1 ? "" : "s");
    print_numbers(r->plan.block, r->plan.n_dims, "x");
    printf(" threads, superblocks of up to ");
    print_numbers(r->plan.superblock_blocks, r->plan.n_dims, "x");
    printf(" blocks\n");
}

/** Print how a graph is scheduled. */
static void print_schedule(const result *r) {
    printf("  %-13s %s, %d actors, %lld frames in flight\n", "strategy", r->plan.strategy,
           r->graph.n_actors, (long long)r->graph.frames_in_flight);
    printf("  %-13s %.6f s predicted, bound %.6f s, %s\n", "period", r->graph.period_s,
           r->graph.bound_s, r->graph.bound);
    if (r->period_s > 0)
        printf("  %-13s %.6f s\n", "measured", r->period_s);
}

static void print_counts(const result *r) {
    for (int k = 0; k < RESULT_MAX_COUNTS && r->counts[k].name != NULL; ++k)
        printf("  %-13s %lld\n", r->counts[k].name, (long long)r->counts[k].count);
}

static void print_limit(const session *s) {
    char size[32];
    printf("  %-13s %s\n", "limit",
           s->limit_bytes > 0 ? polytile_size_format(s->limit_bytes, size)
                              : "none: in place, nothing is copied");
}

/** Print how far the uploads are from the lower bound, and its reason. */
static void print_bound(const result *r, int64_t h2d_bytes) {
    char size[32];
    if (r->plan.bound_bytes > 0)
        printf("  %-13s %.3f times %s, %s\n", "uploads",
               (double)h2d_bytes / (double)r->plan.bound_bytes,
               polytile_size_format(r->plan.bound_bytes, size), r->plan.bound);
}

static void print_times(const result *r) {
    printf("  %-13s %.6f s\n", "planning", r->plan.plan_seconds);
    if (r->ran)
        printf("  %-13s %.6f s (compute %.6f, transfer %.6f)\n", "total", r->run.run_s,
               r->run.compute_s, r->run.transfer_s);
    if (r->checked)
        printf("  %-13s max error %g\n", "check", r->max_error);
}

void report_text(const session *s, const result *r) {
    polytile_report f = figures(r);
    printf("%s of ", s->spec->name);
    print_numbers(r->shape, r->n_dims, "x");
    printf(" %s", type_text(r->type));
    if (r->n_steps > 0)
        printf(", %lld %s,", (long long)r->n_steps,
               s->spec->extras & EXAMPLE_ITERATIONS ? "iterations" : "steps");
    printf(" on %s", s->device_text);
    if (s->ranks.n > 1)
        printf(" by %d ranks", s->ranks.n);
    printf("%s\n", r->ran ? "" : " (planned, not run)");
    print_counts(r);
    print_limit(s);
    if (s->spec->uses_stream)
        print_schedule(r);
    else
        print_plan(r);
    printf("  %-13s %lld\n", "kernels", (long long)f.n_kernels);
    print_size("device peak", f.peak_device_bytes);
    print_size("uploaded", f.h2d_bytes);
    print_size("downloaded", f.d2h_bytes);
    if (f.p2p_bytes > 0)
        print_size("between GPUs", f.p2p_bytes);
    print_size("lower bound", f.lower_bound_bytes);
    print_bound(r, f.h2d_bytes);
    print_times(r);
}

static void print_json_text(const char *key, const char *text) {
    printf("\"%s\": \"", key);
    for (; *text != '\0'; ++text)
        if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            printf("\\u%04x", (unsigned)*text);
        else
            putchar(*text);
    printf("\", ");
}

static void print_json_count(const char *key, int64_t count) {
    printf("\"%s\": %lld, ", key, (long long)count);
}

static void print_json_counts(const char *key, const int64_t *counts, int n) {
    printf("\"%s\": [", key);
    print_numbers(counts, n, ", ");
    printf("], ");
}

static void print_json_problem(const session *s, const result *r) {
    print_json_text("example", s->spec->name);
    print_json_text("device", s->device_text);
    print_json_count("devices", session_count_devices(s));
    print_json_count("ranks", s->ranks.n);
    print_json_count("n", r->shape[0]);
    print_json_counts("shape", r->shape, r->n_dims);
    print_json_text("type", type_text(r->type));
    if (s->spec->extras & EXAMPLE_STEPS)
        print_json_count("steps", r->n_steps);
    if (s->spec->extras & EXAMPLE_ITERATIONS)
        print_json_count("iterations", r->n_steps);
    for (int k = 0; k < RESULT_MAX_COUNTS && r->counts[k].name != NULL; ++k)
        print_json_count(r->counts[k].name, r->counts[k].count);
    if (s->spec->extras & EXAMPLE_ROUNDS)
        print_json_count("rounds", s->options.rounds);
    if (s->spec->extras & EXAMPLE_TEAMS)
        print_json_count("teams", s->options.teams);
    print_json_count("limit_bytes", s->limit_bytes);
    print_json_text("strategy", r->plan.strategy);
    print_json_count("buffers", r->plan.n_buffers);
    print_json_counts("block", r->plan.block, r->plan.n_dims);
    print_json_counts("superblock_blocks", r->plan.superblock_blocks, r->plan.n_dims);
}

void report_json(const session *s, const result *r) {
    polytile_report f = figures(r);
    putchar('{');
    print_json_problem(s, r);
    print_json_count("kernels", f.n_kernels);
    print_json_count("peak_device_bytes", f.peak_device_bytes);
    print_json_count("h2d_bytes", f.h2d_bytes);
    print_json_count("d2h_bytes", f.d2h_bytes);
    print_json_count("p2p_bytes", f.p2p_bytes);
    print_json_count("lower_bound_bytes", f.lower_bound_bytes);
    print_json_count("lower_bound_h2d_bytes", r->plan.lower_bound_h2d_bytes);
    print_json_count("bound_bytes", r->plan.bound_bytes);
    print_json_text("bound", r->plan.bound);
    if (s->spec->uses_stream)
        printf("\"period_s\": %.9g, \"bound_s\": %.9g, \"measured_period_s\": %.9g, ",
               r->graph.period_s, r->graph.bound_s, r->period_s);
    if (r->ran)
        printf("\"total_s\": %.9g, \"compute_s\": %.9g, \"transfer_s\": %.9g, ", f.run_s,
               f.compute_s, f.transfer_s);
    if (r->checked)
        printf("\"max_error\": %.9g, ", r->max_error);
    printf("\"plan_s\": %.9g}\n", r->plan.plan_seconds);
}
