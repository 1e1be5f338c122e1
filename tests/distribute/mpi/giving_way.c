/* Ranks that wait give way to others. MPICH over UCX asks for messages again and again while it
 * waits, and keeps its core meanwhile. Where ranks are more than cores, one that has something to
 * do comes to its turn after all others have looked for nothing through theirs: three quarters of a
 * run of eight ranks on two cores. Here what MPICH asks goes by way of a function that sleeps
 * between looks which find nothing. Without UCX nothing calls it. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

enum { LOOKS_AWAKE = 200, SLEEP_NS = 20000 };

typedef unsigned progress_function(void *worker);

unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker) {
    static progress_function *ask;
    static int n_idle;
    if (ask == NULL)
        *(void **)&ask = dlsym(RTLD_NEXT, "ucp_worker_progress");
    const unsigned n_found = ask(worker);
    n_idle = n_found > 0 ? 0 : n_idle + (n_idle <= LOOKS_AWAKE);
    if (n_idle > LOOKS_AWAKE)
        nanosleep(&(struct timespec){.tv_nsec = SLEEP_NS}, NULL);
    return n_found;
}
