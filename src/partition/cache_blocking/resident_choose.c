#include "base/checked.h"
#include "partition/cache_blocking/resident.h"
#include "partition/cost/predict.h"
#include "partition/skew/memory.h"
#include "partition/skew/pass.h"

#include <math.h>
#include <stdlib.h>

/* Decides whether, and in which slabs, a chain on resident arrays runs faster out of the cache. */

/** Slabs pay if they take at most this part of the time of launch after launch, since estimates are
 * hardly better. */
static const double worth = 0.9;

/** Bands stay in the cache if they take at most this part of it. */
static const double share_of_cache = 0.75;

static double usable_cache_bytes(const polytile_link *link) {
    bool is_faster = link->cache_bytes_per_s > link->kernel_bytes_per_s;
    return is_faster ? share_of_cache * link->cache_bytes : 0;
}

/** Return the link of a device whose memory is as fast as its cache. */
static polytile_link cached_link(const polytile_link *link) {
    polytile_link cached = *link;
    cached.kernel_bytes_per_s = link->cache_bytes_per_s;
    return cached;
}

void pti_blocking_bound_add(pti_blocking_bound *bound, const polytile_link *link, double n_bytes) {
    double cached_bytes = usable_cache_bytes(link);
    double apart_s = link->launch_latency_s + n_bytes / link->kernel_bytes_per_s;
    bool can_be_blocked = cached_bytes > 0 && n_bytes > cached_bytes;
    bound->apart_s += apart_s;
    bound->cached_s += can_be_blocked ? ceil(n_bytes / cached_bytes) * link->launch_latency_s +
                                            n_bytes / link->cache_bytes_per_s
                                      : apart_s;
}

bool pti_blocking_bound_may_pay(const pti_blocking_bound *bound) {
    return bound->cached_s <= worth * bound->apart_s;
}

/** What slabs in a cache are compared with. */
typedef struct choice {
    const pti_skew_request *request;
    double cached_s; /* of all kernels out of the cache, beside their latencies */
    double apart_s;  /* of the launches one after the other */
} choice;

static double kernel_seconds(const pti_chain *chain, const polytile_link *link) {
    double sum_s = 0;
    for (int l = 0; l < chain->n_launches; l++) {
        const pti_instance *instance = chain->launch[l].call.instance;
        double n_threads = (double)pti_box_count(&instance->threads);
        sum_s += pti_kernel_seconds(link, pti_launch_bytes(instance),
                                    n_threads * pti_thread_accesses(instance));
    }
    return sum_s;
}

/** Return the largest slab, up to a length, whose bands stay in the cache; 0: none. */
static int64_t largest_slab_in_cache(const choice *of, const pti_skew_need *needs, int64_t length) {
    int64_t fits = 0, too_many = length + 1;
    while (fits + 1 < too_many) {
        int64_t tried = fits + (too_many - fits) / 2;
        bool does_fit = pti_skew_slabs_bytes(of->request->chain, needs, tried) <=
                        usable_cache_bytes(of->request->link);
        *(does_fit ? &fits : &too_many) = tried;
    }
    return fits;
}

/** Return the seconds of all launches of all slabs, with each pass once through the arrays' memory,
 * both ways. */
static double predict_slabs(const choice *of, const pti_skew_shape *shape, const pti_pass *pass,
                            double all_bytes) {
    const polytile_link *link = of->request->link;
    double n_slabs = (double)pti_pass_n_slabs(pass, shape->slab);
    return of->cached_s + n_slabs * of->request->chain->n_launches * link->launch_latency_s +
           shape->n_passes * 2 * all_bytes / link->kernel_bytes_per_s;
}

/** Try a pass, unless the cache holds everything from launch to launch anyway. */
static void try_pass(const choice *of, const pti_skew_need *needs, const pti_pass *pass,
                     pti_skew_shape *best) {
    double all_bytes = pti_skew_slabs_bytes(of->request->chain, needs, INT64_MAX);
    int n_launches = of->request->chain->n_launches, n_per_pass = pass->end - pass->first;
    pti_skew_shape tried = {.n_passes = (int)pti_ceil_div(n_launches, n_per_pass),
                            .n_per_pass = n_per_pass,
                            .slab = largest_slab_in_cache(of, needs, pass->last - pass->begin + 1),
                            .n_per_lap = INT64_MAX};
    if (tried.slab == 0 || all_bytes <= usable_cache_bytes(of->request->link))
        return;
    tried.seconds = predict_slabs(of, &tried, pass, all_bytes);
    if (best->slab == 0 || tried.seconds < best->seconds)
        *best = tried;
}

/** Try passes of n_per_pass launches; false when memory runs out. */
static bool try_per_pass(const choice *of, int n_per_pass, pti_skew_shape *best) {
    const pti_chain *chain = of->request->chain;
    pti_pass pass = {0};
    pti_skew_need *needs = pti_skew_needs(chain, n_per_pass);
    bool has_memory = needs != NULL && pti_pass_begin(chain, 0, n_per_pass, &pass);
    if (has_memory)
        try_pass(of, needs, &pass, best);
    pti_pass_end(&pass);
    free(needs);
    return has_memory;
}

/** Try powers of two, the numbers between them, and the most; passes of about equal length. */
static bool try_all_lengths(const choice *of, pti_skew_shape *best) {
    int64_t n_launches = of->request->chain->n_launches, asked = of->request->most_per_pass;
    int64_t most = asked > 0 ? pti_min(asked, n_launches) : n_launches;
    bool has_memory = true;
    for (int64_t n = 2; n < most && has_memory; n *= 2) {
        has_memory = try_per_pass(of, (int)n, best);
        if (has_memory && n + n / 2 < most)
            has_memory = try_per_pass(of, (int)(n + n / 2), best);
    }
    return has_memory && try_per_pass(of, (int)most, best);
}

static void write_cache_reason(const choice *of, const pti_skew_shape *best, pti_text *why) {
    const char *name = of->request->chain->launch[0].call.instance->kernel_name;
    if (best->slab == 0)
        pti_text_add(why,
                     "all arrays are on the device, whose cache holds all of them, or not the rows "
                     "that two launches of %s need at the same time",
                     name);
    else
        pti_text_add(why,
                     "all arrays are on the device; slabs of %s that stay in its cache would take "
                     "%.3g ms, launch after launch %.3g ms",
                     name, 1e3 * best->seconds, 1e3 * of->apart_s);
}

bool pti_blocking_choose_resident(const pti_skew_request *request, pti_skew_shape *shape,
                                  pti_text *why) {
    const polytile_link *link = request->link, cached = cached_link(link);
    *shape = (pti_skew_shape){0};
    choice of = {.request = request};
    of.cached_s = kernel_seconds(request->chain, &cached);
    of.apart_s =
        kernel_seconds(request->chain, link) + request->chain->n_launches * link->launch_latency_s;
    if (!try_all_lengths(&of, shape))
        return false;
    if (shape->slab > 0 && shape->seconds <= worth * of.apart_s)
        return true;
    write_cache_reason(&of, shape, why);
    return false;
}
