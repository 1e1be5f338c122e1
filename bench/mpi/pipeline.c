/* The pipeline of two hosts of Boulos et al. 2012, section 5.1, on two ranks: a frame goes to a
 * device of the first host, to the second host, and to a device there. Actors sleep, so processors
 * are not short of time: mpiexec -n 2 build/bench/pipeline. */
#include "mpi/common/ranks.h"
#include "mpi/rated_links.h"

#include <polytile/mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N_NUMBERS = 262144, N_ACTORS = 2, MOST_LANES = 16 };

typedef struct pipeline_case {
    const char *name;
    int64_t sleep_us;
    int64_t n_frames;
} pipeline_case;

static const pipeline_case cases[] = {
    {"1 MiB frames, actors of 20 ms", 20000, 100},
    {"1 MiB frames, actors of 5 ms", 5000, 300},
};
enum { N_CASES = sizeof cases / sizeof *cases };

/** A pipeline with and without overlap. Links are 500 times as slow as the paper's, and so are
 * actors; these take as long as the link between ranks. */
typedef struct cycle_case {
    pipeline_case of;
    double rank_bytes_per_s;
    double paper; /* how many times as fast overlap is */
} cycle_case;

static const double device_bytes_per_s = 10e6;
static const cycle_case cycle_cases[] = {
    {{"links of 10 and 5.2 MB/s", 201649, 25}, 5.2e6, 2.52},
    {{"links of 10 MB/s", 104858, 25}, 10e6, 3.00},
};
enum { N_CYCLE_CASES = sizeof cycle_cases / sizeof *cycle_cases };

static const char machine_text[] =
    "digraph { h0 [device=\"host(threads=1)\"]; h1 [device=\"host(threads=1)\", rank=1];\n"
    "g0 [device=\"host(memory=64MiB,threads=1)\"];\n"
    "g1 [device=\"host(memory=64MiB,threads=1)\", rank=1] }";

static const char *const actors[N_ACTORS] = {"i1", "i2"};

static int increase(const polytile_sub_kernel *launch) {
    const pipeline_case *of = launch->user;
    const struct timespec time = {of->sleep_us / 1000000, of->sleep_us % 1000000 * 1000};
    const float *from = launch->views[0].origin;
    float *to = launch->views[1].origin;
    nanosleep(&time, NULL);
    memmove(to, from, N_NUMBERS * sizeof *to);
    to[0] += 1;
    return 0;
}

/** A stream on two ranks, the first of which feeds it, and the second takes. */
typedef struct subject {
    const pipeline_case *of;
    bool no_overlap;
    int rank;
    polytile_context *ctx;
    polytile_machine *machine;
    polytile_graph *graph;
    polytile_graph_summary planned;
    polytile_stream *stream;
    polytile_array *port;
    float *frame;
    int64_t n_wrong;
} subject;

static void begin(subject *s) {
    const int64_t n = N_NUMBERS;
    const polytile_implementation implementation = {.host_launcher = increase,
                                                    .user = (void *)(uintptr_t)s->of};
    char text[512];
    snprintf(text, sizeof text,
             "digraph { { node [type=f32, extents=%d]; m0; m1; m2 }\n"
             "{ node [kernel=\"inc[i]: in p[i]; out q[i]\", seconds=\"%lldus\"];\n"
             "i1 [on=g0]; i2 [on=g1] }\n"
             "m0 -> i1 [as=p]; i1 -> m1 [as=q]; m1 -> i2 [as=p]; i2 -> m2 [as=q] }",
             N_NUMBERS, (long long)s->of->sleep_us);
    s->frame = calloc(N_NUMBERS, sizeof *s->frame);
    if (s->frame == NULL)
        abort();
    MPI_Comm_rank(MPI_COMM_WORLD, &s->rank);
    bench_require(polytile_context_create(&s->ctx), NULL);
    bench_require(polytile_graph_parse(s->ctx, text, &s->graph), s->ctx);
    bench_require(polytile_graph_bind(s->graph, "inc", &implementation), s->ctx);
    bench_require(polytile_machine_parse(s->ctx, machine_text, &s->machine), s->ctx);
    bench_require(polytile_array_wrap(s->ctx, "port", POLYTILE_F32, 1, &n, s->frame, &s->port),
                  s->ctx);
}

static void plan(subject *s) {
    const polytile_graph_options options = {.no_overlap = s->no_overlap};
    polytile_graph_plan *made = NULL;
    bench_require(polytile_graph_plan_create(s->graph, s->machine, &options, &made), s->ctx);
    polytile_graph_plan_get_summary(made, &s->planned);
    bench_require(polytile_mpi_stream_create(s->graph, made, MPI_COMM_WORLD, NULL, &s->stream),
                  s->ctx);
    polytile_graph_plan_destroy(made);
}

static void run(subject *s) {
    const int64_t depth = polytile_stream_get_depth(s->stream);
    const bool feeds = s->rank == 0, takes = s->rank == 1;
    for (int64_t f = 0; f < s->of->n_frames + depth; f++) {
        if (f >= depth) {
            bench_require(polytile_stream_pull(s->stream, takes, &s->port, NULL), s->ctx);
            s->n_wrong += takes && s->frame[0] != (float)(f - depth + N_ACTORS);
        }
        if (feeds)
            s->frame[0] = (float)f;
        if (f < s->of->n_frames)
            bench_require(polytile_stream_push(s->stream, feeds, &s->port, NULL), s->ctx);
    }
}

static double most_of_ranks(double value) {
    double most = 0;
    MPI_Allreduce(&value, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

/** Return the rate of a link as the rank saw it that filled it; 0: this rank did not use it. */
static double rate_here(const subject *s, const char *name) {
    polytile_stream_lane lane[MOST_LANES];
    const int n = polytile_stream_get_lanes(s->stream, MOST_LANES, lane);
    double rate = 0;
    for (int l = 0; l < n && l < MOST_LANES; l++)
        if (strcmp(lane[l].name, name) == 0 && lane[l].busy_s > 0)
            rate = (double)lane[l].n_bytes / lane[l].busy_s;
    return rate;
}

/** Let another stream be planned with what this one measured, the same on both ranks. */
static void plan_with(const subject *measured, subject *next) {
    static const char *const links[][2] = {
        {"h0", "g0"}, {"g0", "h0"}, {"h0", "h1"}, {"h1", "g1"}, {"g1", "h1"}};
    for (int a = 0; a < N_ACTORS; a++)
        bench_require(polytile_graph_set_seconds(
                          next->graph, actors[a],
                          most_of_ranks(polytile_stream_get_seconds(measured->stream, actors[a]))),
                      next->ctx);
    for (size_t k = 0; k < sizeof links / sizeof *links; k++) {
        char name[32];
        snprintf(name, sizeof name, "%s -> %s", links[k][0], links[k][1]);
        const double rate = most_of_ranks(rate_here(measured, name));
        if (rate > 0)
            bench_require(polytile_machine_set_rate(next->machine, links[k][0], links[k][1], rate),
                          next->ctx);
    }
    plan(next);
}

static void end(subject *s) {
    polytile_context_destroy(s->ctx);
    free(s->frame);
}

static void report(bench *b, subject *s) {
    polytile_stream_report done;
    polytile_stream_get_report(s->stream, &done);
    const double period_s = most_of_ranks(done.period_s);
    const double latency_s = most_of_ranks(done.latency_median_s);
    double longest_s = 0;
    for (int a = 0; a < N_ACTORS; a++) {
        const double taken_s = most_of_ranks(polytile_stream_get_seconds(s->stream, actors[a]));
        longest_s = taken_s > longest_s ? taken_s : longest_s;
    }
    const bench_figure figures[] = {
        {s->of->name, "period_us", 1e6 * period_s, BENCH_NO_TARGET, 0},
        {s->of->name, "wrong_frames", most_of_ranks((double)s->n_wrong), BENCH_AT_MOST, 0},
        {s->of->name, "link_GB_s", most_of_ranks(rate_here(s, "h0 -> h1")) / 1e9, BENCH_NO_TARGET,
         0},
        {s->of->name, "period_of_longest_actor", period_s / longest_s, BENCH_AT_MOST, 1.05},
        {s->of->name, "predicted_of_measured_period", s->planned.period_s / period_s,
         BENCH_AT_LEAST, 0.95},
        {s->of->name, "predicted_of_measured_latency", s->planned.latency_s / latency_s,
         BENCH_NO_TARGET, 0},
        {s->of->name, "periods_in_flight_of_measured_latency",
         (double)polytile_stream_get_depth(s->stream) * period_s / latency_s, BENCH_NO_TARGET, 0},
    };
    for (size_t f = 0; f < sizeof figures / sizeof *figures; f++)
        bench_report(b, &figures[f]);
}

/** Plan again with what a first run measured. */
static void run_case(bench *b, const pipeline_case *of) {
    subject first = {.of = of}, second = {.of = of};
    begin(&first);
    plan(&first);
    run(&first);
    begin(&second);
    plan_with(&first, &second);
    end(&first);
    run(&second);
    report(b, &second);
    end(&second);
}

static double measured_period(const subject *s) {
    polytile_stream_report done;
    polytile_stream_get_report(s->stream, &done);
    return most_of_ranks(done.period_s);
}

static void report_cycles(bench *b, const cycle_case *of, const subject *on, const subject *off) {
    const double on_s = measured_period(on), off_s = measured_period(off);
    const double measured = off_s / on_s, predicted = off->planned.period_s / on->planned.period_s;
    const char *name = of->of.name;
    double load = 0;
    getloadavg(&load, 1);
    const bench_figure figures[] = {
        {name, "wrong_frames", most_of_ranks((double)(on->n_wrong + off->n_wrong)), BENCH_AT_MOST,
         0},
        {name, "period_with_overlap_us", 1e6 * on_s, BENCH_NO_TARGET, 0},
        {name, "period_without_overlap_us", 1e6 * off_s, BENCH_NO_TARGET, 0},
        {name, "predicted_of_measured_period_with_overlap", on->planned.period_s / on_s,
         BENCH_AT_LEAST, 0.95},
        {name, "predicted_of_measured_period_without_overlap", off->planned.period_s / off_s,
         BENCH_AT_LEAST, 0.95},
        {name, "off_over_on", measured, BENCH_AT_LEAST, 0.95 * of->paper},
        {name, "off_over_on_predicted", predicted, BENCH_NO_TARGET, 0},
        {name, "off_over_on_of_the_paper", of->paper, BENCH_NO_TARGET, 0},
        {name, "load_of_the_machine", load, BENCH_NO_TARGET, 0},
    };
    for (size_t f = 0; f < sizeof figures / sizeof *figures; f++)
        bench_report(b, &figures[f]);
}

/** Run the pipeline in synchronous cycles and with overlap, both planned with what a first run
 * measured. */
static void run_cycles(bench *b, const cycle_case *of) {
    subject first = {.of = &of->of}, on = first, off = {.of = &of->of, .no_overlap = true};
    const rated_links rated = {.frame_bytes = N_NUMBERS * (int64_t)sizeof(float),
                               .rank_bytes_per_s = of->rank_bytes_per_s,
                               .device_bytes_per_s = device_bytes_per_s};
    rated_links_set(&rated);
    begin(&first);
    plan(&first);
    run(&first);
    begin(&on);
    plan_with(&first, &on);
    begin(&off);
    plan_with(&first, &off);
    end(&first);
    run(&on);
    run(&off);
    report_cycles(b, of, &on, &off);
    end(&on);
    end(&off);
    rated_links_set(&(rated_links){0});
}

int main(int argc, char **argv) {
    bench b;
    bench_begin_ranks(&b, "pipeline", 2, "", argc, argv);
    for (int c = 0; c < N_CASES; c++)
        run_case(&b, &cases[c]);
    for (int c = 0; c < N_CYCLE_CASES; c++)
        run_cycles(&b, &cycle_cases[c]);
    return bench_end_ranks(&b);
}
