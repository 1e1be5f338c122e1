/* Streams of frames against the flow graph of oneTBB, with the same kernels by hand. */
#include "flow.h"

#include "common/bench.h"

#include <math.h>
#include <string.h>

static const flow_case cases[] = {
    {"64 Ki numbers, 8 sweeps", 65536, 8, 600},
    {"64 Ki numbers, 64 sweeps", 65536, 64, 120},
    {"256 numbers, a sweep", 256, 1, 20000},
};
enum { N_CASES = sizeof cases / sizeof *cases };

void flow_smooth(const flow_case *of, const float *from, float *to) {
    const int64_t n = of->n_numbers;
    for (int64_t sweep = 0; sweep < of->n_sweeps; sweep++) {
        to[0] = from[0];
        to[n - 1] = from[n - 1];
        for (int64_t i = 1; i < n - 1; i++)
            to[i] = (from[i - 1] + from[i] + from[i + 1]) * 0.25f + (float)sweep;
    }
}

void flow_feed(const flow_case *of, int64_t frame, float *to) {
    memset(to, 0, (size_t)of->n_numbers * sizeof *to);
    to[0] = (float)frame;
    to[of->n_numbers / 2] = (float)frame;
}

double flow_take(const flow_case *of, const float *from) {
    return (double)from[0] + (double)from[of->n_numbers / 2];
}

/** Each in turn, as often as it takes; the least time of each. */
static void compare_ways(bench *b, const flow_case *of) {
    bench_times stream = {0}, tbb = {0};
    double by_stream = 0, by_tbb = 0;
    const double begin_s = bench_now_s();
    while (!bench_is_enough(&stream, bench_now_s() - begin_s)) {
        bench_add_time(&stream, flow_by_stream(of, &by_stream));
        if (flow_has_tbb)
            bench_add_time(&tbb, flow_by_tbb(of, &by_tbb));
    }
    const double frames = (double)of->n_frames;
    bench_report(b, &(bench_figure){of->name, "stream_us_a_frame",
                                    1e6 * bench_least(&stream) / frames, BENCH_NO_TARGET, 0});
    if (!flow_has_tbb)
        return;
    bench_report(b, &(bench_figure){of->name, "tbb_us_a_frame", 1e6 * bench_least(&tbb) / frames,
                                    BENCH_NO_TARGET, 0});
    bench_report(b, &(bench_figure){of->name, "difference_of_results", fabs(by_stream - by_tbb),
                                    BENCH_AT_MOST, 0});
    bench_report(b, &(bench_figure){of->name, "stream_over_tbb",
                                    bench_least(&stream) / bench_least(&tbb), BENCH_AT_MOST, 1.02});
}

int main(int argc, char **argv) {
    bench b;
    if (!bench_begin(&b, "frames", argc, argv))
        return 2;
    for (int c = 0; c < N_CASES; c++)
        compare_ways(&b, &cases[c]);
    return bench_end(&b);
}
