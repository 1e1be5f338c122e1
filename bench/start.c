/* What a small host program takes from its start to its end, beside the same with plain OpenMP:
 * whole processes of bench/small/, which add two vectors of 1000 floats. */
#include "common/bench.h"

#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/** Both sides with the same number of threads. */
typedef struct contest {
    const char *subject;
    const char *form;
    const char *device;
    const char *n_threads; /* OMP_NUM_THREADS */
} contest;

static const contest contests[] = {
    {"short form, 1 thread", "short", "host", "1"},
    {"short form, 2 threads", "short", "host", "2"},
    {"short form, 16 threads", "short", "host", "16"},
    {"short form, 64 threads", "short", "host", "64"},
    {"long form, 2 threads", "long", "host", "2"},
    {"long form, 64 threads", "long", "host", "64"},
    {"short form, 1 MiB", "short", "host(memory=1MiB)", "2"},
    {"short form, two members", "short", "host,host", "2"},
};

enum { N_CONTESTS = sizeof(contests) / sizeof(contests[0]), PATH_BYTES = 4096, N_RUNS = 41 };

/** The path of a program of bench/small/, which lies beside this one. */
static void find_program(const char *name, char *path) {
    const ssize_t length = readlink("/proc/self/exe", path, PATH_BYTES - 1);
    path[length < 0 ? 0 : length] = '\0';
    char *slash = strrchr(path, '/');
    char *end = slash == NULL ? path : slash + 1;
    snprintf(end, (size_t)(path + PATH_BYTES - end), "small/%s", name);
}

/** Seconds of a whole process; ends the program if that fails. */
static double time_process(char **arguments) {
    pid_t process;
    int status = -1;
    const double start_s = bench_now_s();
    const int error = posix_spawn(&process, arguments[0], NULL, NULL, arguments, environ);
    if (error == 0)
        waitpid(process, &status, 0);
    const double time_s = bench_now_s() - start_s;
    if (error != 0 || status != 0) {
        fprintf(stderr, "%s %s does not start, or fails\n", arguments[0],
                arguments[1] == NULL ? "" : arguments[1]);
        exit(1);
    }
    return time_s;
}

/** Both alternate, after one run each that does not count. */
static void measure(const contest *c, bench_times *ours, bench_times *plain) {
    char openmp[PATH_BYTES], polytile[PATH_BYTES], form[8], device[32];
    snprintf(form, sizeof form, "%s", c->form);
    snprintf(device, sizeof device, "%s", c->device);
    char *plain_arguments[] = {openmp, NULL}, *our_arguments[] = {polytile, form, device, NULL};
    find_program("add_openmp", openmp);
    find_program("add_polytile", polytile);
    setenv("OMP_NUM_THREADS", c->n_threads, 1);
    time_process(plain_arguments);
    time_process(our_arguments);
    for (int run = 0; run < N_RUNS; run++) {
        bench_add_time(plain, time_process(plain_arguments));
        bench_add_time(ours, time_process(our_arguments));
    }
}

static void run_contest(bench *b, const contest *c) {
    bench_times ours = {0}, plain = {0};
    measure(c, &ours, &plain);
    const double later_s = bench_median(&ours) - bench_median(&plain);
    const bench_figure figures[] = {
        {c->subject, "openmp_ms", 1e3 * bench_median(&plain), BENCH_NO_TARGET, 0.0},
        {c->subject, "later_ms", 1e3 * later_s, BENCH_NO_TARGET, 0.0},
        {c->subject, "later_ms_of_least", 1e3 * (bench_least(&ours) - bench_least(&plain)),
         BENCH_NO_TARGET, 0.0},
    };
    for (int f = 0; f < (int)(sizeof(figures) / sizeof(figures[0])); f++)
        bench_report(b, &figures[f]);
}

int main(int argc, char **argv) {
    bench b;
    if (!bench_begin(&b, "start", argc, argv))
        return 2;
    for (int c = 0; c < N_CONTESTS; c++)
        run_contest(&b, &contests[c]);
    return bench_end(&b);
}
