#include "launch/device/lanes.h"

#include "base/checked.h"
#include "base/mix.h"
#include "launch/tuning/speeds.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

/** Each number of lanes is run so often, and once more often if it is nearly the best. */
enum { N_RUNS = 2, N_RUNS_OF_THE_BEST = 4 };

/** More lanes may not be worth it where some took so much longer than the best with fewer. Those
 * that took no more than nearly_best times the best are measured again. */
static const double much_longer = 1.25, nearly_best = 1.1;

/** Of all devices: it is held for a few comparisons a launch. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/** Return the least seconds of the first trials. */
static double least_seconds(const pti_lane_times *times, int n_trials) {
    double best_s = INFINITY;
    for (int k = 0; k < n_trials; k++)
        if (times->n_runs[k] > 0)
            best_s = fmin(best_s, times->best_s[k]);
    return best_s;
}

/** Return whether more lanes than those of a trial, which was run, are not worth a trial: they took
 * much longer than the best of fewer, and no less than half as many did. Two lanes decide nothing:
 * a launch is cut for lanes otherwise than for one, so that they may take longer than one, and four
 * or eight may take less again. */
static bool is_last_trial(const pti_lane_times *times, int trial) {
    return trial >= 2 && times->best_s[trial] > much_longer * least_seconds(times, trial) &&
           times->best_s[trial] >= times->best_s[trial - 1];
}

/** Return the number of trials that are worth it. */
static int count_trials(const pti_lane_times *times) {
    int n = 1;
    while (n < PTI_N_LANE_TRIALS && (times->n_runs[n - 1] < N_RUNS || !is_last_trial(times, n - 1)))
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

/** Return the key under which the context keeps what launches of a device took in a number of
 * lanes. */
static uint64_t kept_key(const polytile_device *device, uint64_t key, int trial) {
    return pti_mix(pti_mix_text(key, device->text), INT64_C(1) << trial);
}

/** Keep what was run as often as it takes to go on to more lanes. */
static void keep_times(const polytile_device *device, const pti_lane_times *times) {
    for (int k = 0; k < PTI_N_LANE_TRIALS; k++)
        if (times->n_runs[k] >= N_RUNS && times->best_s[k] > 0)
            pti_speeds_keep(device->object.context, kept_key(device, times->key, k),
                            1 / times->best_s[k]);
}

static pti_lane_times kept_times(const polytile_device *device, uint64_t key) {
    pti_lane_times times = {.key = key};
    for (int k = 0; k < PTI_N_LANE_TRIALS; k++) {
        const double launches_per_s =
            pti_speeds_find(device->object.context, kept_key(device, key, k));
        if (launches_per_s > 0) {
            times.n_runs[k] = N_RUNS_OF_THE_BEST;
            times.best_s[k] = 1 / launches_per_s;
        }
    }
    return times;
}

/** The speeds that the context keeps are there before the device, and so outlive it. */
bool pti_lanes_open(polytile_device *device) {
    device->lane_times = calloc(PTI_N_LANE_TIMES, sizeof *device->lane_times);
    pti_speeds_find(device->object.context, 0);
    return device->lane_times != NULL;
}

void pti_lanes_close(polytile_device *device) {
    for (int k = 0; device->lane_times != NULL && device->text != NULL && k < PTI_N_LANE_TIMES; k++)
        keep_times(device, &device->lane_times[k]);
    free(device->lane_times);
    device->lane_times = NULL;
}

/** Launches alike that a device knows of; NULL: none. */
static pti_lane_times *find_times(const polytile_device *device, uint64_t key) {
    for (int k = 0; k < PTI_N_LANE_TIMES; k++)
        if (device->lane_times[k].key == key)
            return &device->lane_times[k];
    return NULL;
}

/** Return the launches alike, which are new ones in place of others if the device knows of none;
 * the context may know them from before. */
static pti_lane_times *open_times(polytile_device *device, uint64_t key) {
    pti_lane_times *times = find_times(device, key);
    if (times != NULL)
        return times;
    times = &device->lane_times[device->next_lane_times];
    device->next_lane_times = (device->next_lane_times + 1) % PTI_N_LANE_TIMES;
    keep_times(device, times);
    *times = kept_times(device, key);
    return times;
}

int pti_lanes_choose(polytile_device *device, uint64_t key) {
    if (device->lane_times == NULL)
        return (int)pti_max(device->n_lanes, 1);
    pthread_mutex_lock(&mutex);
    const int n_lanes = pti_lane_times_choose(open_times(device, key));
    pthread_mutex_unlock(&mutex);
    return n_lanes;
}

/** Return whether the best number of lanes is known: no other one is tried any more. */
static bool is_settled(const pti_lane_times *times) {
    const int n_lanes = pti_lane_times_choose(times);
    int k = 0;
    while (1 << k < n_lanes)
        k++;
    return times->n_runs[k] == N_RUNS_OF_THE_BEST;
}

bool pti_lanes_are_learnt(const polytile_device *device, uint64_t key) {
    if (device->lane_times == NULL)
        return false;
    pthread_mutex_lock(&mutex);
    const pti_lane_times *times = find_times(device, key);
    const bool are_learnt = times != NULL && !is_settled(times) && times->n_untold < N_RUNS;
    pthread_mutex_unlock(&mutex);
    return are_learnt;
}

bool pti_lanes_are_told(const pti_schedule *schedule, int64_t n_chosen) {
    return !schedule->in_place && (n_chosen <= 1 || schedule->n_lanes > 1);
}

void pti_lanes_note(polytile_device *device, uint64_t key, int64_t n_lanes, double seconds) {
    if (device->lane_times == NULL)
        return;
    pthread_mutex_lock(&mutex);
    pti_lane_times *times = find_times(device, key);
    if (times != NULL) {
        pti_lane_times_note(times, (int)n_lanes, seconds);
        times->n_untold = 0;
    }
    pthread_mutex_unlock(&mutex);
}

void pti_lanes_note_untold(polytile_device *device, uint64_t key) {
    if (device->lane_times == NULL)
        return;
    pthread_mutex_lock(&mutex);
    pti_lane_times *times = find_times(device, key);
    if (times != NULL)
        times->n_untold += times->n_untold < N_RUNS;
    pthread_mutex_unlock(&mutex);
}
