#include "partition/choose/kept_cuts.h"

#include "base/mix.h"
#include "partition/choose/choose_pieces.h"
#include "partition/cost/demand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** Cuts that are kept, and the most superblocks of one. */
enum { MOST_CUTS = 64, MOST_SUPERBLOCKS = 4096 };

/** Links are alike whose rates differ by no more than this. */
static const double most_difference = 1.1;

/** How one launch was cut. */
typedef struct kept_cut {
    uint64_t hash; /* of the launch but for where its threads lie, and of what was asked for */
    polytile_link link;
    polytile_domain threads;
    pti_partition partition; /* owned; no superblocks: none is kept here */
} kept_cut;

struct pti_kept_cuts {
    int next; /* to be overwritten */
    kept_cut cut[MOST_CUTS];
};

pti_kept_cuts *pti_kept_cuts_create(void) {
    return calloc(1, sizeof(pti_kept_cuts));
}

void pti_kept_cuts_free(pti_kept_cuts *cuts) {
    for (int k = 0; cuts != NULL && k < MOST_CUTS; k++)
        pti_partition_free(&cuts->cut[k].partition);
    free(cuts);
}

static const pti_instance *instance_of_request(const pti_grain_request *request) {
    return request->ways->call[0].instance;
}

static polytile_link link_of(const pti_grain_request *request) {
    return request->options->link == NULL ? polytile_link_default : *request->options->link;
}

static uint64_t mix_extents(uint64_t hash, const polytile_domain *box) {
    hash = pti_mix(hash, box->n_dims);
    for (int d = 0; d < box->n_dims; d++)
        hash = pti_mix(pti_mix(hash, pti_range_count(box->range[d])), box->range[d].step);
    return hash;
}

static uint64_t mix_options(uint64_t hash, const pti_grain_request *request) {
    const polytile_plan_options *options = request->options;
    const int n_indices = instance_of_request(request)->n_indices;
    const char *strategy = pti_strategy_find(options->strategy)->name;
    for (size_t k = 0; strategy[k] != '\0'; k++)
        hash = pti_mix(hash, strategy[k]);
    for (int d = 0; options->block != NULL && d < n_indices; d++)
        hash = pti_mix(hash, options->block[d]);
    hash = pti_mix(pti_mix(hash, options->n_buffers), options->n_streams);
    hash = pti_mix(pti_mix(hash, request->arena_bytes), options->fill_threads);
    return pti_mix(hash, request->all_fit);
}

static uint64_t hash_request(const pti_grain_request *request) {
    const pti_instance *instance = instance_of_request(request);
    uint64_t hash = mix_extents(instance->declaration_hash, &instance->threads);
    for (int k = 0; k < POLYTILE_MAX_PARAMETERS; k++)
        hash = pti_mix(hash, instance->parameter[k]);
    for (int o = 0; o < instance->n_operands; o++) {
        const pti_operand *operand = &instance->operand[o];
        hash = pti_mix(mix_extents(hash, &operand->domain), operand->element_bytes);
    }
    return mix_options(hash, request);
}

static bool are_numbers_near(double one, double other) {
    return fmax(one, other) <= most_difference * fmin(one, other);
}

static bool are_links_alike(const polytile_link *one, const polytile_link *other) {
    return are_numbers_near(one->upload_bytes_per_s, other->upload_bytes_per_s) &&
           are_numbers_near(one->download_bytes_per_s, other->download_bytes_per_s) &&
           are_numbers_near(one->duplex_bytes_per_s, other->duplex_bytes_per_s) &&
           are_numbers_near(one->kernel_bytes_per_s, other->kernel_bytes_per_s);
}

/** Return whether a launch is cut by its extents alone. */
static bool is_plain(const pti_instance *instance) {
    return instance->given == NULL && instance->fold == NULL && instance->inspection == NULL &&
           instance->n_further == 0 && !instance->is_team && !pti_instance_has_scratch(instance);
}

static polytile_domain moved_box(const polytile_domain *box, const polytile_domain *from,
                                 const polytile_domain *to) {
    polytile_domain made = *box;
    for (int d = 0; d < box->n_dims; d++) {
        made.range[d].lo += to->range[d].lo - from->range[d].lo;
        made.range[d].hi += to->range[d].lo - from->range[d].lo;
    }
    return made;
}

/** Copy a partition of some threads to others, as many of which lie elsewhere. False when memory
 * runs out; then there is none. */
static bool copy_partition_to(const pti_partition *partition, const polytile_domain *from,
                              const polytile_domain *to, pti_partition *made) {
    bool is_made = true;
    *made = *partition;
    made->superblock = NULL;
    made->n_superblocks = made->n_allocated = 0;
    if (partition->n_strips > 1)
        made->cut_lo += to->range[partition->cut].lo - from->range[partition->cut].lo;
    for (int64_t k = 0; k < partition->n_superblocks && is_made; k++) {
        const polytile_domain superblock = moved_box(&partition->superblock[k], from, to);
        is_made = pti_partition_add(made, &superblock);
    }
    if (!is_made)
        pti_partition_free(made);
    return is_made;
}

static bool fits_arena(const pti_grain_request *request, const pti_partition *partition) {
    int64_t operand_bytes[PTI_MAX_OPERANDS];
    bool does = true;
    for (int64_t k = 0; k < partition->n_superblocks && does; k++)
        does = pti_piece_bytes(instance_of_request(request), &partition->superblock[k],
                               operand_bytes) <= request->arena_bytes;
    return does;
}

bool pti_kept_cuts_find(const pti_kept_cuts *cuts, const pti_grain_request *request,
                        pti_partition *partition) {
    const polytile_domain *threads = &instance_of_request(request)->threads;
    const polytile_link link = link_of(request);
    const uint64_t hash = hash_request(request);
    if (!is_plain(instance_of_request(request)))
        return false;
    for (int k = 0; k < MOST_CUTS; k++) {
        const kept_cut *kept = &cuts->cut[k];
        if (kept->partition.n_superblocks == 0 || kept->hash != hash ||
            mix_extents(0, &kept->threads) != mix_extents(0, threads) ||
            !are_links_alike(&kept->link, &link) ||
            !copy_partition_to(&kept->partition, &kept->threads, threads, partition))
            continue;
        if (fits_arena(request, partition))
            return true;
        pti_partition_free(partition);
    }
    return false;
}

void pti_kept_cuts_add(pti_kept_cuts *cuts, const pti_grain_request *request,
                       const pti_partition *partition) {
    const polytile_domain *threads = &instance_of_request(request)->threads;
    kept_cut made = {hash_request(request), link_of(request), *threads, {0}};
    if (!is_plain(instance_of_request(request)) || partition->n_superblocks > MOST_SUPERBLOCKS ||
        !copy_partition_to(partition, threads, threads, &made.partition))
        return;
    pti_partition_free(&cuts->cut[cuts->next].partition);
    cuts->cut[cuts->next] = made;
    cuts->next = (cuts->next + 1) % MOST_CUTS;
}
