#include "launch/device/lanes.h"

#include "base/checked.h"
#include "base/mix.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

/** Each number of lanes is run so often, and once more often if it is nearly the best. */
enum { N_RUNS = 2, N_RUNS_OF_THE_BEST = 4 };

/** More lanes are not tried once some took so much longer than the best with fewer. Those that took
 * no more than nearly_best times the best are measured again. */
static const double much_longer = 1.25, nearly_best = 1.1;

/** Of all devices: it is held for a few comparisons a launch. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/** The least seconds of the first trials. */
static double least_seconds(const pti_lane_times *times, int n_trials) {
    double best_s = INFINITY;
    for (int k = 0; k < n_trials; k++)
        if (times->n_runs[k] > 0)
            best_s = fmin(best_s, times->best_s[k]);
    return best_s;
}

/** The number of trials that are worth it: up to the first that took much longer. */
static int count_trials(const pti_lane_times *times) {
    int n = 1;
    while (n < PTI_N_LANE_TRIALS && (times->n_runs[n - 1] < N_RUNS ||
                                     times->best_s[n - 1] <= much_longer * least_seconds(times, n)))
        n++;
    return n;
}

int pti_lane_times_choose(const pti_lane_times *times) {
    const int n_trials = count_trials(times);
    const double best_s = least_seconds(times, n_trials);
    int best = 0;
    for (int k = 0; k < n_trials; k++)
        if (times->n_runs[k] < N_RUNS)
            return 1 << k;
    for (int k = 0; k < n_trials; k++) {
        if (times->best_s[k] <= nearly_best * best_s && times->n_runs[k] < N_RUNS_OF_THE_BEST)
            return 1 << k;
        best = times->best_s[k] < times->best_s[best] ? k : best;
    }
    return 1 << best;
}

void pti_lane_times_note(pti_lane_times *times, int n_lanes, double seconds) {
    for (int k = 0; k < PTI_N_LANE_TRIALS; k++) {
        if (1 << k != n_lanes)
            continue;
        times->best_s[k] = times->n_runs[k] == 0 ? seconds : fmin(times->best_s[k], seconds);
        times->n_runs[k] += times->n_runs[k] < N_RUNS_OF_THE_BEST;
    }
}

uint64_t pti_lanes_key(uint64_t declaration_hash, const polytile_domain *threads) {
    uint64_t key = declaration_hash;
    for (int d = 0; d < threads->n_dims && d < POLYTILE_MAX_DIMS; d++)
        key = pti_mix(key, pti_range_count(threads->range[d]));
    return key;
}

/** Launches alike that a device knows of; others go for new ones. */
static pti_lane_times *find_times(polytile_device *device, uint64_t key) {
    for (int k = 0; k < PTI_N_LANE_TIMES; k++)
        if (device->lane_times[k].key == key)
            return &device->lane_times[k];
    pti_lane_times *made = &device->lane_times[device->next_lane_times];
    device->next_lane_times = (device->next_lane_times + 1) % PTI_N_LANE_TIMES;
    *made = (pti_lane_times){.key = key};
    return made;
}

int pti_lanes_choose(polytile_device *device, uint64_t key) {
    if (device->lane_times == NULL)
        return (int)pti_max(device->n_lanes, 1);
    pthread_mutex_lock(&mutex);
    const int n_lanes = pti_lane_times_choose(find_times(device, key));
    pthread_mutex_unlock(&mutex);
    return n_lanes;
}

bool pti_lanes_are_told(const pti_schedule *schedule, int64_t n_chosen) {
    return !schedule->in_place && (n_chosen <= 1 || schedule->n_lanes > 1);
}

void pti_lanes_note(polytile_device *device, uint64_t key, int64_t n_lanes, double seconds) {
    if (device->lane_times == NULL)
        return;
    pthread_mutex_lock(&mutex);
    pti_lane_times_note(find_times(device, key), (int)n_lanes, seconds);
    pthread_mutex_unlock(&mutex);
}
