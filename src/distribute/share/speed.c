#include "distribute/share/speed.h"

#include "access/declare/kernel.h"
#include "base/checked.h"
#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The most bytes of arrays; the part of a small memory that stays in it, and the multiple of it
 * that does not. */
enum { TRIAL_BYTES = 16 << 20, RESIDENT_PART = 4, MOST_SUPERBLOCKS = 64, N_TRIALS = 5 };

/** What is measured with: an array as large as the larger trial needs. */
typedef struct speed_trial {
    polytile_queue *member;
    polytile_kernel *kernel;
    void *bytes;
} speed_trial;

static void increment_elements(const polytile_domain *threads, const polytile_view *views,
                               void *user) {
    (void)user;
    unsigned char *element = views[0].origin;
    for (int64_t k = threads->range[0].lo; k <= threads->range[0].hi; k++)
        element[k]++;
}

static polytile_status launch_trial(const speed_trial *of, polytile_array *array) {
    return polytile_queue_launch(of->member, of->kernel, &array->domain, 1, &array, NULL);
}

/** Detach an array from the queue. status: a failure before, whose text stays. */
static polytile_status detach_trial(const speed_trial *of, polytile_array *array,
                                    polytile_status status) {
    polytile_context *ctx = of->member->object.context;
    pti_error first = {0};
    pti_error_keep(&first, ctx, status);
    pti_error_keep(&first, ctx, polytile_queue_detach(of->member, 1, &array));
    return pti_error_restore(ctx, &first);
}

/** Once there and back. */
static polytile_status stream_array(const speed_trial *of, polytile_array *array) {
    polytile_status status;
    PTI_TRY(polytile_queue_attach(of->member, 1, &array));
    status = detach_trial(of, array, launch_trial(of, array));
done:
    return status;
}

/** Once through what is there. */
static polytile_status go_through_array(const speed_trial *of, polytile_array *array) {
    polytile_status status;
    PTI_TRY(launch_trial(of, array));
    PTI_TRY(polytile_queue_wait(of->member));
done:
    return status;
}

typedef polytile_status trial_run(const speed_trial *of, polytile_array *array);

/** Trials go on for so long at most, unless the first two take longer. */
static const double most_s = 0.05;

/** Time some trials and take the best: the first one finds nothing prepared. */
static polytile_status time_best(const speed_trial *of, polytile_array *array, trial_run *run,
                                 double *bytes_per_s) {
    polytile_status status = POLYTILE_OK;
    double best_s = INFINITY, end_s = pti_now_s() + most_s;
    for (int k = 0; k < N_TRIALS && (k < 2 || pti_now_s() < end_s); k++) {
        const double begin_s = pti_now_s();
        PTI_TRY(run(of, array));
        best_s = fmin(best_s, pti_now_s() - begin_s);
    }
    *bytes_per_s = (double)array->n_bytes / fmax(best_s, 1e-9);
done:
    return status;
}

static polytile_status wrap_trial(const speed_trial *of, int64_t n_bytes, polytile_array **array) {
    return polytile_array_wrap(of->member->object.context, "x", POLYTILE_U8, 1, &n_bytes, of->bytes,
                               array);
}

static polytile_status measure_streamed(const speed_trial *of, int64_t n_bytes,
                                        double *bytes_per_s) {
    polytile_status status;
    polytile_array *array = NULL;
    PTI_TRY(wrap_trial(of, n_bytes, &array));
    PTI_TRY(time_best(of, array, stream_array, bytes_per_s));
done:
    polytile_array_destroy(array);
    return status;
}

static polytile_status measure_resident(const speed_trial *of, int64_t n_bytes,
                                        double *bytes_per_s) {
    polytile_status status;
    polytile_array *array = NULL;
    PTI_TRY(wrap_trial(of, n_bytes, &array));
    PTI_TRY(polytile_queue_attach(of->member, 1, &array));
    status = detach_trial(of, array, time_best(of, array, go_through_array, bytes_per_s));
done:
    polytile_array_destroy(array);
    return status;
}

static polytile_status measure_both(const speed_trial *of, int64_t limit_bytes, pti_speed *speed) {
    polytile_status status;
    bool is_small = limit_bytes > 0 && limit_bytes < TRIAL_BYTES;
    int64_t within = limit_bytes > 0 ? pti_max(limit_bytes / RESIDENT_PART, 1) : TRIAL_BYTES;
    int64_t beyond = is_small ? limit_bytes * MOST_SUPERBLOCKS : TRIAL_BYTES;
    PTI_TRY(measure_resident(of, pti_min(within, TRIAL_BYTES), &speed->resident));
    speed->streamed = speed->resident;
    if (limit_bytes > 0)
        PTI_TRY(measure_streamed(of, pti_min(beyond, TRIAL_BYTES), &speed->streamed));
done:
    return status;
}

static polytile_status measure_host(polytile_queue *member, pti_speed *speed) {
    static const polytile_implementation implementation = {.host = increment_elements};
    polytile_context *ctx = member->object.context;
    speed_trial of = {.member = member, .bytes = calloc(1, TRIAL_BYTES)};
    polytile_status status;
    if (of.bytes == NULL)
        return pti_fail_memory(ctx, "measuring a device's speed", TRIAL_BYTES);
    PTI_TRY(polytile_kernel_create(ctx, "speed[i]: inout x[i]", &implementation, &of.kernel));
    of.kernel->is_own = true;
    PTI_TRY(measure_both(&of, polytile_device_get_limit(member->device), speed));
    polytile_queue_get_report(member, true, &(polytile_report){0});
done:
    polytile_kernel_destroy(of.kernel);
    free(of.bytes);
    return status;
}

/** What was measured of hosts in this process, by their texts: what was measured first goes
 * first. */
enum { MOST_KNOWN = 64, TEXT_BYTES = 96 };
static struct {
    pthread_mutex_t mutex;
    int n_known; /* so far; the k-th is at k modulo MOST_KNOWN */
    struct {
        char text[TEXT_BYTES];
        pti_speed speed;
    } at[MOST_KNOWN];
} known = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static bool find_known_speed(const char *text, pti_speed *speed) {
    bool is_known = false;
    pthread_mutex_lock(&known.mutex);
    for (int k = 0; k < known.n_known && k < MOST_KNOWN && !is_known; k++) {
        is_known = strcmp(known.at[k].text, text) == 0;
        *speed = is_known ? known.at[k].speed : *speed;
    }
    pthread_mutex_unlock(&known.mutex);
    return is_known;
}

static void keep_known(const char *text, const pti_speed *speed) {
    if (strlen(text) >= TEXT_BYTES)
        return;
    pthread_mutex_lock(&known.mutex);
    const int at = known.n_known++ % MOST_KNOWN;
    memcpy(known.at[at].text, text, strlen(text) + 1);
    known.at[at].speed = *speed;
    pthread_mutex_unlock(&known.mutex);
}

polytile_status pti_speed_measure(polytile_queue *member, pti_speed *speed) {
    const char *text = polytile_device_get_text(member->device);
    const polytile_link *link = polytile_device_get_link(member->device);
    *speed = (pti_speed){link->kernel_bytes_per_s, link->duplex_bytes_per_s};
    if (member->device->has_measured_link || find_known_speed(text, speed))
        return POLYTILE_OK;
    polytile_status status = measure_host(member, speed);
    if (status == POLYTILE_NO_FIT) {
        pti_clear_error(member->object.context);
        *speed = (pti_speed){0};
        status = POLYTILE_OK;
    }
    if (status == POLYTILE_OK)
        keep_known(text, speed);
    return status;
}
