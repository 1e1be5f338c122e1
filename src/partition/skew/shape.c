#include "partition/skew/skew.h"

#include "access/footprint/footprint.h"
#include "base/checked.h"
#include "partition/cost/predict.h"
#include "partition/skew/memory.h"
#include "partition/skew/pass.h"
#include "partition/skew/sets.h"
#include "partition/skew/tiled.h"

#include <math.h>
#include <stdlib.h>

/** Numbers of passes are tried up to this many times the fewest that fit. */
enum { MOST_PASSES_FACTOR = 4 };

/** Arrays of more boxes do not suit slabs, and take long. */
enum { MOST_BOXES = 128 };

/** What a launch leaves in the device's last cache stays for the next if both go through at most
 * this part of it. */
static const double share_of_cache = 0.75;

/** A kernel of which several threads read an element is slower by this than one that copies
 * (stencils of 5 and 7 points on an H200: at 2.1 of 4.0 TB/s). */
static const double neighbours_cost = 1.9;

/** What two concurrent slabs save of the latencies of launches (H200, Jacobi on slabs of 4 planes
 * of 1024 x 1024 floats: a third while data moves, else 0.8), and the least part of all seconds
 * that is worth the waits. */
static const double saved_concurrent = 0.35, least_saved = 0.01;

/** Up to this part of the cache, a launch's data of a slab is there for the next one: a second slab
 * that does not fit beside it costs more than it saves (H200: with 34 MB 15 % of all; with 42 MB
 * two slabs gain 6 %). */
static const double share_of_one = 0.65;

/** How much longer a shape that moves less may take: estimates are no better, and others use the
 * link, too. */
static const double as_fast_ratio = 1.05;

/** A number of launches a pass, while its slabs are chosen. */
typedef struct candidate {
    const pti_skew_request *request;
    int n_passes;
    int n_per_pass;
    pti_skew_need *needs; /* owned */
    pti_pass pass;        /* the first; owned */
    int64_t h2d_bytes;    /* of all passes */
    int64_t d2h_bytes;
    double up_cost_bytes; /* the same, with what short runs cost on top */
    double down_cost_bytes;
    int64_t n_boxes;      /* that all passes bring */
    double work_s;        /* of the kernels of all passes, beside their latencies */
    double tiled_apart_s; /* of these, launches that run as one, if they ran one by one */
    double row_bytes;     /* that a launch touches at most for each thread along its index */
    double beside_bytes;  /* and beside those, at the ends of a slab */
    double enough_s;      /* of shapes that are no slower, the one that moves least is best */
    bool is_scattered;    /* an array is touched in more than MOST_BOXES pieces */
} candidate;

static int n_arrays_of(const candidate *of) {
    return of->request->chain->arrays->n_operands;
}

static int n_images_of(const candidate *of) {
    return pti_skew_n_images(of->request->chain);
}

/** Return the bytes that a launch touches for one thread along its index. */
static double first_row_bytes(const pti_cut_launch *cut) {
    polytile_domain row = cut->call.instance->threads, hull;
    double n_bytes = 0;
    row.range[cut->index].hi = row.range[cut->index].lo;
    for (int o = 0; o < cut->call.instance->n_operands; o++) {
        if (pti_footprint_find_hull(cut->call.instance, o, PTI_TOUCHES, &row, &hull))
            n_bytes +=
                (double)pti_box_count(&hull) * (double)cut->call.instance->operand[o].element_bytes;
    }
    return n_bytes;
}

/** Return the seconds of a launch's kernel on all threads at once. */
static double launch_seconds(const candidate *of, int launch) {
    const pti_chain *chain = of->request->chain;
    const pti_instance *instance = chain->launch[launch].call.instance;
    const double n_threads = (double)pti_box_count(&instance->threads);
    return 1.0 / pti_chain_unit(chain) * (pti_reads_neighbours(instance) ? neighbours_cost : 1) *
           pti_kernel_seconds(of->request->link, pti_launch_bytes(instance),
                              pti_thread_accesses(instance) * n_threads);
}

/** What a launch takes on all threads at once, and touches. */
typedef struct launch_work {
    double seconds;
    double row_bytes;    /* for each thread along its index */
    double beside_bytes; /* at the ends of a slab */
} launch_work;

static launch_work work_of_launch(const candidate *of, int launch) {
    const pti_cut_launch *cut = &of->request->chain->launch[launch];
    const polytile_range *range = &cut->call.instance->threads.range[cut->index];
    const double row_bytes =
        pti_launch_bytes(cut->call.instance) / (double)(range->hi - range->lo + 1);
    return (launch_work){launch_seconds(of, launch), row_bytes, first_row_bytes(cut) - row_bytes};
}

/** Launches of which the work is kept. */
enum { N_KEPT = 4 };

/** Return the one of the last launches of a chain that takes as long, or -1. */
static int find_like_before(const pti_chain *chain, int launch) {
    const pti_cut_launch *cut = &chain->launch[launch];
    for (int l = launch - 1; l >= 0 && l > launch - N_KEPT; l--)
        if (chain->launch[l].call.instance == cut->call.instance &&
            chain->launch[l].index == cut->index)
            return l;
    return -1;
}

/** Sum up the seconds of the launches' kernels on all threads at once, and find what a slab of one
 * thread touches. */
static void estimate_work(candidate *of) {
    launch_work kept[N_KEPT];
    for (int l = 0; l < of->request->chain->n_launches; l++) {
        const int like = find_like_before(of->request->chain, l);
        const launch_work work = like >= 0 ? kept[like % N_KEPT] : work_of_launch(of, l);
        kept[l % N_KEPT] = work;
        of->work_s += work.seconds;
        of->row_bytes = fmax(of->row_bytes, work.row_bytes);
        of->beside_bytes = fmax(of->beside_bytes, work.beside_bytes);
    }
}

/** Return how many passes like the first one there are. */
static double passes_like_first(const candidate *of) {
    return (double)of->request->chain->n_launches / (of->pass.end - of->pass.first);
}

static bool is_tiled(const pti_tiled_unit *unit) {
    return unit->n_launches > 1;
}

/** Return the seconds of a launch that only goes through its arrays in memory. */
static double pass_seconds(const candidate *of, const pti_tiled_unit *unit) {
    return pti_kernel_seconds(of->request->link,
                              pti_launch_bytes(unit->sequence->ping_pong.instance), 0);
}

/** Sum up what launches that run as one would take one by one. */
static void measure_tiled(candidate *of) {
    double seconds = 0;
    for (int u = 0; u < of->pass.n_units; u++)
        if (is_tiled(&of->pass.unit[u]))
            seconds += of->pass.unit[u].n_launches * launch_seconds(of, of->pass.unit[u].first);
    of->tiled_apart_s = seconds * passes_like_first(of);
}

/** Return the seconds of launches that run as one; units of one size follow one another, and the
 * first slab of a lap has none beside it. */
static double tiled_seconds(const candidate *of, int64_t slab, int64_t n_per_lap) {
    const double alone = of->request->one_after_other ? 1 : 1 / (double)n_per_lap;
    double seconds = 0, launch_s = 0;
    for (int u = 0; u < of->pass.n_units; u++) {
        const pti_tiled_unit *unit = &of->pass.unit[u], *before = u == 0 ? NULL : unit - 1;
        if (!is_tiled(unit))
            continue;
        if (before == NULL || before->sequence != unit->sequence ||
            before->n_launches != unit->n_launches)
            launch_s = pass_seconds(of, unit) * pti_tiled_cost(unit, slab, alone) /
                       pti_ping_pong_passes_apart(&unit->sequence->ping_pong);
        seconds += pti_tiled_n_launches(unit) * launch_s;
    }
    return seconds * passes_like_first(of);
}

static double work_seconds(const candidate *of, int64_t slab, int64_t n_per_lap) {
    const polytile_link *link = of->request->link;
    const double apart_s = fmax(0, of->work_s - of->tiled_apart_s);
    bool is_cached = link->cache_bytes_per_s > 0 &&
                     (double)slab * of->row_bytes <= share_of_cache * link->cache_bytes;
    return tiled_seconds(of, slab, n_per_lap) +
           (is_cached ? apart_s * link->kernel_bytes_per_s / link->cache_bytes_per_s : apart_s);
}

/** Return the seconds of copying all images to their beginning once, in slices of a lap's rows. */
static double image_copy_seconds(const candidate *of, int64_t slab, int64_t n_per_lap) {
    const polytile_link *link = of->request->link;
    double seconds = 0, lap_rows = (double)n_per_lap * (double)slab;
    for (int a = 0; a < n_images_of(of); a++) {
        const pti_skew_need *need = &of->needs[a];
        const int n_beside =
            a < n_arrays_of(of) ? pti_skew_n_beside(need->none_goes, need->none_comes) : 0;
        double n_rows = (double)need->band_rows + n_beside * (double)slab;
        if (need->band_rows > 0 && lap_rows < (double)need->all_rows)
            seconds += pti_copy_seconds(link, n_rows * (double)need->row_bytes) +
                       (ceil(n_rows / lap_rows) - 1) * link->launch_latency_s;
    }
    return seconds;
}

/** Return the seconds of all passes: in each, one slab on the three streams in sequence, and the
 * rest on all at once. Images are copied on the stream of the uploads, while launches wait. */
static double predict_shape(const candidate *of, int64_t slab, int64_t n_per_lap) {
    const polytile_link *link = of->request->link;
    double n_slabs = (double)pti_pass_n_slabs(&of->pass, slab), n_passes = of->n_passes;
    double n_laps = ceil(n_slabs / (double)n_per_lap) - 1;
    double image_copy_s = n_passes * n_laps * image_copy_seconds(of, slab, n_per_lap);
    double up_s = n_slabs * (double)of->n_boxes * link->transfer_latency_s +
                  of->up_cost_bytes / link->duplex_bytes_per_s + image_copy_s;
    double down_s = n_slabs * n_passes * link->transfer_latency_s +
                    of->down_cost_bytes / link->duplex_bytes_per_s;
    double compute_s = work_seconds(of, slab, n_per_lap) + image_copy_s +
                       n_slabs * of->pass.n_units * passes_like_first(of) * link->launch_latency_s;
    double rest = 1 - 1 / n_slabs;
    return (up_s + down_s + compute_s) / n_slabs + rest * fmax(compute_s, fmax(up_s, down_s));
}

static bool fit_into_cache(const candidate *of, int64_t n_rows) {
    const polytile_link *link = of->request->link;
    double touched_bytes = (double)n_rows * of->row_bytes + of->beside_bytes;
    return link->cache_bytes_per_s > 0 && touched_bytes <= share_of_one * link->cache_bytes;
}

/** Return whether to run concurrent slabs: launches are short, and one slab does not evict the
 * other from the cache; or tiles of one slab fill the device where those of the other end. The
 * first of a lap begins alone. */
static bool suits_concurrent(const candidate *of, const pti_skew_shape *shape) {
    double n_launches =
        (double)pti_pass_n_slabs(&of->pass, shape->slab) * of->request->chain->n_launches;
    double saved_s = n_launches * of->request->link->launch_latency_s * saved_concurrent *
                     (1 - 1 / (double)shape->n_per_lap);
    if (of->tiled_apart_s > 0)
        return !of->request->one_after_other;
    return !of->request->one_after_other && saved_s >= least_saved * shape->seconds &&
           (!fit_into_cache(of, shape->slab) || fit_into_cache(of, 2 * shape->slab));
}

/** Return the most slabs of a lap that fit the arena; 0: none. */
static int64_t longest_lap(const candidate *of, int64_t slab) {
    int64_t fits = 0, too_many = pti_pass_n_slabs(&of->pass, slab) + 1;
    while (fits + 1 < too_many) {
        int64_t tried = fits + (too_many - fits) / 2;
        bool has_room =
            pti_skew_bytes(of->needs, n_images_of(of), slab, tried) <= of->request->arena_bytes;
        *(has_room ? &fits : &too_many) = tried;
    }
    return fits;
}

static bool is_better(const candidate *of, const pti_skew_shape *one, const pti_skew_shape *other) {
    int64_t bytes = one->h2d_bytes + one->d2h_bytes;
    int64_t other_bytes = other->h2d_bytes + other->d2h_bytes;
    if (other->slab == 0)
        return true;
    bool are_fast = one->seconds <= of->enough_s && other->seconds <= of->enough_s;
    if ((of->request->fewest_bytes || are_fast) && bytes != other_bytes)
        return bytes < other_bytes;
    return one->seconds < other->seconds;
}

/** Try a slab; false if it does not fit, as no longer one does. */
static bool try_slab(const candidate *of, int64_t slab, pti_skew_shape *best) {
    pti_skew_shape tried = {.n_passes = of->n_passes,
                            .n_per_pass = of->n_per_pass,
                            .slab = slab,
                            .n_per_lap = longest_lap(of, slab),
                            .h2d_bytes = of->h2d_bytes,
                            .d2h_bytes = of->d2h_bytes};
    if (tried.n_per_lap == 0)
        return false;
    tried.seconds = predict_shape(of, slab, tried.n_per_lap);
    tried.concurrent = suits_concurrent(of, &tried);
    if (is_better(of, &tried, best))
        *best = tried;
    return true;
}

/** Try slabs that the largest tiles of a unit cut evenly. */
static void try_slabs_of_tiles(const candidate *of, const pti_tiled_unit *unit, int64_t length,
                               pti_skew_shape *best) {
    const int64_t rows = pti_tiled_most_rows(unit);
    for (int64_t n = 1; rows > 0 && n <= length / rows && try_slab(of, n * rows, best);
         n += 1 + n / 8)
        continue;
}

/** Return whether a unit that runs as one has other tiles than the one before. */
static bool has_other_tiles(const pti_pass *pass, int unit) {
    return is_tiled(&pass->unit[unit]) &&
           (unit == 0 || pass->unit[unit].n_launches != pass->unit[unit - 1].n_launches);
}

/** Try powers of two, the numbers between them, and what suits tiles. */
static void try_slabs(const candidate *of, pti_skew_shape *best) {
    const int64_t length = of->pass.last - of->pass.begin + 1;
    for (int64_t slab = 1; slab <= length && try_slab(of, slab, best); slab *= 2)
        if (slab > 1)
            try_slab(of, slab + slab / 2, best);
    for (int u = 0; u < of->pass.n_units; u++)
        if (has_other_tiles(&of->pass, u))
            try_slabs_of_tiles(of, &of->pass.unit[u], length, best);
}

/** Return the bytes that take as long in one run as a set does. */
static double cost_bytes(const candidate *of, int array, const pti_boxes *set) {
    const pti_operand *whole = &of->request->chain->arrays->operand[array];
    double sum = 0;
    for (int k = 0; k < set->n_boxes; k++) {
        pti_runs runs = pti_runs_of(&whole->domain, &set->box[k], whole->element_bytes);
        sum += (double)pti_box_count(&set->box[k]) * (double)whole->element_bytes *
               pti_run_cost(of->request->link, runs);
    }
    return sum;
}

static void count_exposed(candidate *of, int array, const pti_boxes *set) {
    int64_t element_bytes = of->request->chain->arrays->operand[array].element_bytes;
    of->h2d_bytes += pti_boxes_count(set) * element_bytes;
    of->up_cost_bytes += cost_bytes(of, array, set);
    of->n_boxes += set->n_boxes;
}

/** Find the bytes that an array moves in all passes. */
static void count_array(candidate *of, const pti_skew_sets *sets, int array, pti_boxes *whole) {
    const pti_chain *chain = of->request->chain;
    int64_t element_bytes = chain->arrays->operand[array].element_bytes;
    bool stays = chain->axis[array] == PTI_AXIS_WHOLE;
    if (stays) {
        pti_skew_sets_find_whole(sets, array, whole);
        count_exposed(of, array, whole);
    }
    for (int p = 0; p < of->n_passes; p++) {
        const pti_pass_sets *moved = pti_skew_sets_of(sets, p, array);
        if (!stays)
            count_exposed(of, array, &moved->exposed);
        of->d2h_bytes += pti_boxes_count(&moved->live) * element_bytes;
        of->down_cost_bytes += cost_bytes(of, array, &moved->live);
    }
}

/** Count the bytes of all arrays; false when memory runs out. */
static bool count_moved_bytes(candidate *of) {
    pti_skew_sets sets;
    pti_boxes whole = {0};
    bool is_found = pti_skew_sets_find(of->request, of->n_per_pass, MOST_BOXES, &sets);
    of->is_scattered = sets.is_scattered;
    for (int a = 0; is_found && !of->is_scattered && a < n_arrays_of(of); a++)
        count_array(of, &sets, a, &whole);
    if (is_found && !of->is_scattered)
        pti_skew_note_still(of->request->chain, &sets, of->needs);
    is_found = is_found && !whole.failed;
    pti_boxes_free(&whole);
    pti_skew_sets_free(&sets);
    return is_found;
}

/** Set the launches of a pass for a number of passes. */
static void set_passes(candidate *of, int n_passes) {
    const pti_chain *chain = of->request->chain;
    const int unit = pti_chain_unit(chain);
    of->n_per_pass = unit * (int)pti_ceil_div(pti_chain_n_calls(chain), n_passes);
    of->n_passes = (int)pti_ceil_div(chain->n_launches, of->n_per_pass);
}

/** Return whether the least slab of n_passes passes fits; sets *has_memory to false when memory
 * runs out. */
static bool passes_fit(const candidate *wanted, int n_passes, bool *has_memory) {
    candidate of = *wanted;
    set_passes(&of, n_passes);
    pti_skew_need *needs = pti_skew_needs(of.request->chain, of.n_per_pass);
    bool does =
        needs != NULL && pti_skew_bytes(needs, n_images_of(&of), 1, 1) <= of.request->arena_bytes;
    *has_memory &= needs != NULL;
    free(needs);
    return does;
}

/** Try a number of passes that fits; false when memory runs out. */
static bool try_passes(candidate *wanted, int n_passes, pti_skew_shape *best) {
    candidate of = *wanted;
    set_passes(&of, n_passes);
    of.needs = pti_skew_needs(of.request->chain, of.n_per_pass);
    bool is_tried = of.needs != NULL && count_moved_bytes(&of) &&
                    pti_pass_begin(of.request->chain, 0, of.n_per_pass, &of.pass);
    if (is_tried)
        measure_tiled(&of);
    if (is_tried && !of.is_scattered)
        try_slabs(&of, best);
    wanted->is_scattered = of.is_scattered;
    pti_pass_end(&of.pass);
    free(of.needs);
    return is_tried;
}

static void explain_scattered(const pti_skew_request *request, pti_text *why) {
    pti_text_add(why,
                 "launches such as %s touch their arrays in more than %d pieces; each launch goes "
                 "through the arrays by itself",
                 request->chain->launch[0].call.instance->kernel_name, MOST_BOXES);
}

int pti_skew_fewest_passes(const pti_skew_request *request) {
    int n_launches = pti_chain_n_calls(request->chain);
    int64_t most = request->most_per_pass > 0 ? request->most_per_pass : n_launches;
    return (int)pti_ceil_div(n_launches, pti_max(1, pti_min(most, n_launches)));
}

int pti_skew_most_passes(const pti_skew_request *request) {
    int n_launches = pti_chain_n_calls(request->chain);
    return n_launches < 2 ? 0 : (n_launches + 1) / 2;
}

/** Return the fewest passes that fit, or more than the most if none does. Few of them mostly do, so
 * numbers are doubled until one fits, before the range below is halved. */
static int fewest_that_fit(const candidate *wanted, bool *has_memory) {
    const int none = pti_skew_most_passes(wanted->request) + 1;
    int lo = pti_skew_fewest_passes(wanted->request), hi = lo;
    while (hi < none && !passes_fit(wanted, hi, has_memory)) {
        lo = hi + 1;
        hi = (int)pti_min(none, 2 * (int64_t)hi);
    }
    while (lo < hi) {
        int middle = lo + (hi - lo) / 2;
        if (passes_fit(wanted, middle, has_memory))
            hi = middle;
        else
            lo = middle + 1;
    }
    return lo;
}

/** Try numbers of passes: all small ones, and large ones a sixteenth apart. False when memory runs
 * out. */
static bool try_all_passes(candidate *wanted, pti_skew_shape *best) {
    bool has_memory = true;
    int n = fewest_that_fit(wanted, &has_memory);
    int most = (int)pti_min(pti_skew_most_passes(wanted->request), (int64_t)MOST_PASSES_FACTOR * n);
    for (; n <= most && has_memory && !wanted->is_scattered; n += 1 + n / 16)
        has_memory = try_passes(wanted, n, best);
    return has_memory;
}

bool pti_skew_choose(const pti_skew_request *request, pti_skew_shape *shape, pti_text *why) {
    candidate wanted = {.request = request};
    *shape = (pti_skew_shape){0};
    estimate_work(&wanted);
    bool has_memory = try_all_passes(&wanted, shape);
    if (has_memory && shape->n_passes > pti_skew_fewest_passes(request) && !request->fewest_bytes) {
        wanted.enough_s = as_fast_ratio * shape->seconds;
        has_memory = try_all_passes(&wanted, shape);
    }
    if (has_memory && wanted.is_scattered)
        explain_scattered(request, why);
    else if (has_memory && shape->slab == 0)
        pti_skew_explain_memory(request, why);
    return has_memory && shape->slab > 0;
}

bool pti_skew_choose_tiled(const pti_skew_request *request, pti_chain *chain, pti_skew_shape *shape,
                           pti_text *why) {
    pti_tiled_chain *const tiled = chain->tiled;
    pti_skew_request wanted = *request;
    const candidate of = {.request = &wanted};
    pti_skew_shape in_tiles;
    pti_text ignored = {0};
    wanted.chain = chain;
    if (tiled == NULL || !pti_tiled_has_aside(tiled))
        return pti_skew_choose(&wanted, shape, why);
    chain->tiled = NULL;
    bool is_chosen = pti_skew_choose(&wanted, shape, why);
    chain->tiled = tiled;
    const bool may_tile = is_chosen && pti_skew_choose(&wanted, &in_tiles, &ignored);
    is_chosen = is_chosen && (may_tile || ignored.length > 0);
    if (may_tile && is_better(&of, &in_tiles, shape)) {
        *shape = in_tiles;
    } else {
        pti_tiled_free(tiled);
        chain->tiled = NULL;
    }
    pti_text_free(&ignored);
    return is_chosen;
}
