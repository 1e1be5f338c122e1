/* Policies on tasks that sleep: two workers, one up to 16 times slower, 512 tasks of 0.5 ms on
 * average, whose costs nobody knows before. Figures are over the best split into two runs of tasks
 * by one who knows all; beside it a counter by hand and StarPU. Means over seeds. */
#include "common/bench.h"
#include "queue.h"

#include <string.h>

enum { N_SEEDS = 20, N_EQUAL_SEEDS = 3, N_RATIOS = 5, N_EMPTY_ROWS = 5000 };

static const double mean_s = 0.5e-3;
static const int ratio[N_RATIOS] = {1, 2, 4, 8, 16};

/** Whose figures they are. */
typedef struct system_under_test {
    const char *name;
    void (*begin)(const char *policy);
    void (*end)(void);
    const char *policy;
    run_tasks *run;
    bool has_target;
} system_under_test;

static void begin_nothing(const char *policy) {
    (void)policy;
}
static void end_nothing(void) {}

static const system_under_test systems[] = {
    {"guided", queue_begin, queue_end, "guided", run_in_queue, true},
    {"self(1)", queue_begin, queue_end, "self(1)", run_in_queue, false},
    {"a counter by hand", begin_nothing, end_nothing, "", run_from_counter, false},
    {"StarPU dmda", starpu_begin, starpu_end, "dmda", run_by_starpu, false},
    {"StarPU lws", starpu_begin, starpu_end, "lws", run_by_starpu, false},
};

/** Mean over seeds of the time over that of the best split. */
static double time_over_best(const system_under_test *of, task_kind kind, int slower) {
    const int n_seeds = kind == TASKS_EQUAL ? N_EQUAL_SEEDS : N_SEEDS;
    double sum = 0;
    tasks drawn;
    for (int seed = 0; seed < n_seeds; seed++) {
        tasks_draw(kind, (unsigned)seed, mean_s, slower, &drawn);
        sum += of->run(&drawn) / tasks_best_split(&drawn);
    }
    return sum / n_seeds;
}

static void report_cell(bench *b, const system_under_test *of, task_kind kind, int slower) {
    char subject[64], name[64];
    snprintf(subject, sizeof subject, "%s tasks, 1:%d", task_kind_names[kind], slower);
    snprintf(name, sizeof name, "%s, over the best split", of->name);
    bench_report(b, &(bench_figure){.subject = subject,
                                    .name = name,
                                    .value = time_over_best(of, kind, slower),
                                    .relation = of->has_target ? BENCH_AT_MOST : BENCH_NO_TARGET,
                                    .target = kind == TASKS_GIANTS ? 1.10 : 1.05});
}

/** What is wanted; NULL: all. */
typedef struct request {
    const char *system; /* --system NAME */
    const char *kind;   /* --kind NAME, of tasks */
} request;

static bool is_wanted(const char *wanted, const char *name) {
    return wanted == NULL || strcmp(wanted, name) == 0;
}

static void report_system(bench *b, const request *wanted, const system_under_test *of) {
    of->begin(of->policy);
    for (int kind = 0; kind < N_KINDS; kind++) {
        for (int r = 0; r < N_RATIOS && is_wanted(wanted->kind, task_kind_names[kind]); r++)
            report_cell(b, of, (task_kind)kind, ratio[r]);
    }
    of->end();
}

static void report_overhead(bench *b) {
    bench_times times = {0};
    queue_begin("self(1)");
    for (int k = 0; k < BENCH_REPETITIONS; k++)
        bench_add_time(&times, time_empty_pieces(N_EMPTY_ROWS));
    queue_end();
    bench_report(b, &(bench_figure){.subject = "rows that do nothing, two hosts",
                                    .name = "a piece, us",
                                    .value = 1e6 * bench_median(&times),
                                    .relation = BENCH_AT_MOST,
                                    .target = 10});
}

/** Read --system and --kind in front of what all benchmarks take; returns how many arguments that
 * were. */
static int read_request(int argc, char **argv, request *wanted) {
    int n_read = 0;
    for (; n_read + 2 < argc; n_read += 2) {
        const char *option = argv[n_read + 1];
        if (strcmp(option, "--system") == 0)
            wanted->system = argv[n_read + 2];
        else if (strcmp(option, "--kind") == 0)
            wanted->kind = argv[n_read + 2];
        else
            break;
    }
    return n_read;
}

int main(int argc, char **argv) {
    bench b;
    request wanted = {0};
    const int n_read = read_request(argc, argv, &wanted);
    if (!bench_begin(&b, "policies", argc - n_read, argv + n_read))
        return 2;
    tasks_sleep_exactly();
    if (wanted.system == NULL)
        report_overhead(&b);
    for (size_t s = 0; s < sizeof systems / sizeof *systems; s++) {
        if ((systems[s].run != run_by_starpu || has_starpu) &&
            is_wanted(wanted.system, systems[s].name))
            report_system(&b, &wanted, &systems[s]);
    }
    return bench_end(&b);
}
