#include "tasks.h"

#include <errno.h>
#include <math.h>
#include <sys/prctl.h>
#include <time.h>

const char *const task_kind_names[N_KINDS] = {"equal", "exponential", "heavy tail", "rare giants"};

/** A number in (0, 1] (splitmix64: Steele et al. 2014). */
static double draw(uint64_t *state) {
    uint64_t bits = *state += UINT64_C(0x9e3779b97f4a7c15);
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((bits ^ (bits >> 31)) >> 11) / 0x1p53 + 0x1p-54;
}

static double draw_cost(task_kind kind, uint64_t *state) {
    static const double most = 50, shape = 1.5, part_of_giants = 0.01;
    const double number = draw(state);
    switch (kind) {
    case TASKS_EXPONENTIAL:
        return -log(number);
    case TASKS_TAIL:
        return fmin(most, pow(number, -1 / shape) - 1);
    case TASKS_GIANTS:
        return number < part_of_giants ? most : 1;
    default:
        return 1;
    }
}

void tasks_draw(task_kind kind, unsigned seed, double mean_s, double slower, tasks *drawn) {
    uint64_t state = seed * UINT64_C(1000003) + (uint64_t)kind;
    double sum = 0;
    for (int t = 0; t < N_TASKS; t++)
        sum += drawn->cost_s[t] = draw_cost(kind, &state);
    for (int t = 0; t < N_TASKS; t++)
        drawn->cost_s[t] *= mean_s * N_TASKS / sum;
    drawn->mean_s = mean_s;
    drawn->speed[0] = 1;
    drawn->speed[1] = 1 / slower;
}

double tasks_best_split(const tasks *of) {
    double all = 0, before = 0, best = INFINITY;
    for (int t = 0; t < N_TASKS; t++)
        all += of->cost_s[t];
    for (int t = 0; t <= N_TASKS; t++) {
        best = fmin(best, fmax(before / of->speed[0], (all - before) / of->speed[1]));
        before += t < N_TASKS ? of->cost_s[t] : 0;
    }
    return best;
}

void tasks_sleep_exactly(void) {
    prctl(PR_SET_TIMERSLACK, 1);
}

void tasks_sleep(const tasks *of, int worker, int first, int end) {
    double cost_s = 0;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    for (int t = first; t < end; t++)
        cost_s += of->cost_s[t];
    const int64_t ns = until.tv_nsec + (int64_t)(1e9 * cost_s / of->speed[worker]);
    until.tv_sec += ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        continue;
}
