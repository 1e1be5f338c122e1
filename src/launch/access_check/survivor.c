#include "launch/access_check/survivor.h"

#include "base/crash.h"

#include <pthread.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/** A run takes too long if it takes this many times as long as others, and this much longer. */
static const double most_times = 20, least_s = 0.1;

static double processor_now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/** Set the timer; 0: without an end. */
static void set_timer(const pti_survivor *survivor, double seconds) {
    struct itimerspec at = {{0, 0}, {(time_t)seconds, 0}};
    at.it_value.tv_nsec = (long)(1e9 * (seconds - (double)at.it_value.tv_sec));
    if (survivor->has_timer)
        timer_settime(survivor->timer, 0, &at, NULL);
}

static void run_usual(pti_survivor *survivor, const polytile_domain *threads,
                      const polytile_view *views) {
    const double begin_s = processor_now_s();
    survivor->original->host(threads, views, survivor->original->user);
    const double took_s = processor_now_s() - begin_s;
    survivor->usual_s = took_s > survivor->usual_s ? took_s : survivor->usual_s;
}

static void run_strange(pti_survivor *survivor, const polytile_domain *threads,
                        const polytile_view *views) {
    sigjmp_buf escape;
    survivor->has_ended = true;
    set_timer(survivor, most_times * survivor->usual_s + least_s);
    if (sigsetjmp(escape, 1) == 0) {
        pti_crash_set_escape(&escape);
        survivor->original->host(threads, views, survivor->original->user);
        survivor->has_ended = false;
    }
    pti_crash_set_escape(NULL);
    set_timer(survivor, 0);
}

static void run_launch(const polytile_domain *threads, const polytile_view *views, void *user) {
    pti_survivor *survivor = user;
    if (survivor->is_strange)
        run_strange(survivor, threads, views);
    else
        run_usual(survivor, threads, views);
}

/** Unblock the timer's signal: the library's threads block all that they do not raise. */
static void unblock_timer(pti_survivor *survivor) {
    sigset_t timer;
    sigemptyset(&timer);
    sigaddset(&timer, SIGXCPU);
    pthread_sigmask(SIG_UNBLOCK, &timer, &survivor->mask);
}

void pti_survivor_open(const polytile_implementation *original, pti_survivor *survivor) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGXCPU};
    event.sigev_notify_thread_id = gettid();
    *survivor = (pti_survivor){.original = original, .implementation = *original};
    survivor->implementation.host = run_launch;
    survivor->implementation.host_launcher = NULL;
    survivor->implementation.user = survivor;
    pti_crash_catch();
    unblock_timer(survivor);
    survivor->has_timer = timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &survivor->timer) == 0;
}

void pti_survivor_close(pti_survivor *survivor) {
    if (survivor->original == NULL)
        return;
    if (survivor->has_timer)
        timer_delete(survivor->timer);
    pthread_sigmask(SIG_SETMASK, &survivor->mask, NULL);
    pti_crash_let_go();
    survivor->original = NULL;
}
