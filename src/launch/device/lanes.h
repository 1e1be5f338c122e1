#ifndef POLYTILE_LAUNCH_DEVICE_LANES_H
#define POLYTILE_LAUNCH_DEVICE_LANES_H

#include "launch/device/device.h"

/* How many lanes a launch is dealt to. With streams=auto a device runs launches of a kernel over as
 * many threads in 1, 2, 4, ... lanes, and then in as many as took least time. The context keeps
 * what a device of this text has measured (launch/tuning/speeds.h). */

/** The numbers of lanes that are tried, powers of two. */
enum { PTI_N_LANE_TRIALS = 6 };

/** What is known of launches that are alike. */
typedef struct pti_lane_times {
    uint64_t key;
    int n_runs[PTI_N_LANE_TRIALS];
    double best_s[PTI_N_LANE_TRIALS]; /* the least time of these */
    int n_untold;                     /* launches since one that told of its lanes */
} pti_lane_times;

/** Return the number of lanes for the next launch, by what launches alike took so far. */
int pti_lane_times_choose(const pti_lane_times *times);

/** Note the seconds of a launch in a number of lanes; others than those that are tried are
 * ignored. */
void pti_lane_times_note(pti_lane_times *times, int n_lanes, double seconds);

/** Return the key of launches that are alike: of one declaration, over as many threads. */
uint64_t pti_lanes_key(uint64_t declaration_hash, const polytile_domain *threads);

/** Let a device, which the context does not have yet, find out how many lanes are best. False:
 * there is no memory for it. */
bool pti_lanes_open(polytile_device *device);

/** Keep what a device has measured, and forget it. Nothing of a device that measures nothing. */
void pti_lanes_close(polytile_device *device);

/** Return how many lanes the next launch of a key is to have on a device, whose kernel runs in
 * lanes. The thread that uses the context calls it. */
int pti_lanes_choose(polytile_device *device, uint64_t key);

/** Return whether a device still finds out how many lanes are best for launches of a key. It waits
 * no more where the last ones told nothing, as those of one thread, until one does. Any thread may
 * call it. */
bool pti_lanes_are_learnt(const polytile_device *device, uint64_t key);

/** Return whether what a launch takes tells of the lanes that it was to have: not in place, nor in
 * one lane where more were chosen. */
bool pti_lanes_are_told(const pti_schedule *schedule, int64_t n_chosen);

/** Note what a launch took whose number of lanes was chosen, for later choices. Any thread may call
 * it. */
void pti_lanes_note(polytile_device *device, uint64_t key, int64_t n_lanes, double seconds);
/** Note a launch that did not tell of the lanes that were chosen for it. */
void pti_lanes_note_untold(polytile_device *device, uint64_t key);

#endif
