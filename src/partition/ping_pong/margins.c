#include "partition/ping_pong/margins.h"

#include "access/footprint/footprint.h"
#include "access/set/boxes.h"
#include "base/checked.h"

#include <stdlib.h>

static const pti_instance *instance_of_launch(const pti_tiling *tiling, int launch) {
    return tiling->call[launch].instance;
}

static bool refuse_operand(const pti_instance *instance, const pti_operand *operand, pti_text *why,
                           const char *reason) {
    pti_text_add(why, "%s %s %s", instance->kernel_name, reason, operand->name);
    return false;
}

/** Return whether each dimension of a section follows one index by constant offsets, or none. */
static bool is_at_constant_offsets(const pti_section *section) {
    bool is = section->exact && section->is_box && !section->may_be_empty;
    for (int d = 0; d < section->n_dims && is; d++)
        is = section->subscript[d].step == 1 &&
             (section->followed[d] == POLYTILE_MAX_DIMS ||
              section->subscript[d].lo.index[section->followed[d]] == 1);
    return is;
}

/** Return whether each thread writes one element of its own by a section, which all of its indices
 * name. */
static bool is_written_alone(const pti_section *section, int n_indices) {
    bool is_named[POLYTILE_MAX_DIMS + 1] = {false};
    bool is = true;
    for (int d = 0; d < section->n_dims; d++) {
        is_named[section->followed[d]] = true;
        is = is && section->subscript[d].lo.constant == section->subscript[d].hi.constant;
    }
    for (int k = 0; k < n_indices; k++)
        is = is && is_named[k];
    return is;
}

static bool suits_section(const pti_instance *instance, const pti_section *section, pti_text *why) {
    const pti_operand *operand = &instance->operand[section->operand];
    if (operand->reduces)
        return refuse_operand(instance, operand, why, "combines into");
    if (operand->is_scratch || operand->partial || !is_at_constant_offsets(section))
        return refuse_operand(instance, operand, why, "does not go at constant offsets through");
    if (section->role != POLYTILE_IN && !is_written_alone(section, instance->n_indices))
        return refuse_operand(instance, operand, why, "has threads that write several elements of");
    return true;
}

static bool suits_launch(const pti_tiling *tiling, int launch, pti_text *why) {
    const pti_instance *instance = instance_of_launch(tiling, launch);
    if (instance->n_indices != instance_of_launch(tiling, 0)->n_indices ||
        instance->n_further > 0) {
        pti_text_add(why, "%s has another number of indices, or arrays in pieces",
                     instance->kernel_name);
        return false;
    }
    for (int s = 0; s < instance->n_sections; s++)
        if (!suits_section(instance, &instance->section[s], why))
            return false;
    return true;
}

/** Two sections of one array, the first of which is written. */
typedef struct section_pair {
    const pti_section *written, *other;
} section_pair;

static bool follow_same_indices(section_pair of) {
    bool do_follow = true;
    for (int d = 0; d < of.written->n_dims; d++)
        do_follow = do_follow && of.written->followed[d] == of.other->followed[d];
    return do_follow;
}

static bool are_same_elements(section_pair of) {
    bool are = follow_same_indices(of);
    for (int d = 0; d < of.written->n_dims; d++)
        are = are && of.written->subscript[d].lo.constant == of.other->subscript[d].lo.constant;
    return are;
}

/** Return by how much neighbours along an index are moved that lie on the other side of a periodic
 * array. */
static int64_t wrap_between(const pti_tiling *tiling, int index, int64_t lo, int64_t hi) {
    const polytile_domain *threads = &instance_of_launch(tiling, 0)->threads;
    return pti_goes_round(tiling->rounds, index)
               ? pti_wrap_offset(lo, hi, pti_range_count(threads->range[index]))
               : 0;
}

/** Let a launch's part be as long as a later one's needs: that reads around each of its threads
 * what this one's threads write. */
static void widen_margin(pti_tiling *tiling, int launch, int by, section_pair of) {
    const pti_margin *later = &tiling->margin[by];
    pti_margin *margin = &tiling->margin[launch];
    for (int d = 0; d < of.written->n_dims; d++) {
        const int index = of.written->followed[d];
        const int64_t written = of.written->subscript[d].lo.constant;
        if (index == POLYTILE_MAX_DIMS)
            continue;
        const int64_t lo = of.other->subscript[d].lo.constant - written;
        const int64_t hi = of.other->subscript[d].hi.constant - written;
        const int64_t turn = wrap_between(tiling, index, lo, hi);
        margin->before[index] = pti_max(margin->before[index], later->before[index] - (lo - turn));
        margin->after[index] = pti_max(margin->after[index], later->after[index] + hi - turn);
    }
}

/** Widen a launch's margin by what a section of a later one reads of what it writes; or say why
 * tiles cannot run the two as one. A launch has no conflict with itself. */
static bool widen_for_section(pti_tiling *tiling, int launch, int later, section_pair of,
                              pti_text *why) {
    const pti_instance *by = instance_of_launch(tiling, later);
    const pti_operand *operand = &by->operand[of.other->operand];
    if (launch == later && of.other->role == POLYTILE_IN)
        return true;
    if (of.other->role != POLYTILE_IN && !are_same_elements(of))
        return refuse_operand(by, operand, why, "writes by other threads, or launches before do,");
    if (!follow_same_indices(of))
        return refuse_operand(by, operand, why, "does not go as launches before through");
    if (of.other->role != POLYTILE_OUT)
        widen_margin(tiling, launch, later, of);
    return true;
}

static bool add_margins_between(pti_tiling *tiling, int launch, int later, pti_text *why) {
    const pti_instance *instance = instance_of_launch(tiling, launch),
                       *by = instance_of_launch(tiling, later);
    for (int s = 0; s < instance->n_sections; s++)
        for (int r = 0; r < by->n_sections && instance->section[s].role != POLYTILE_IN; r++)
            if (tiling->call[launch].array[instance->section[s].operand] ==
                    tiling->call[later].array[by->section[r].operand] &&
                !widen_for_section(tiling, launch, later,
                                   (section_pair){&instance->section[s], &by->section[r]}, why))
                return false;
    return true;
}

/** Find the margins from the last launch on, which has none. */
static bool find_margins(pti_tiling *tiling, pti_text *why) {
    for (int l = tiling->n_launches - 1; l >= 0; l--) {
        if (!suits_launch(tiling, l, why))
            return false;
        for (int later = l; later < tiling->n_launches; later++)
            if (!add_margins_between(tiling, l, later, why))
                return false;
    }
    return true;
}

/** What launches read of an array as it was before, and what they write of it. */
typedef struct array_use {
    pti_boxes read_before, written, boxes;
} array_use;

static void add_use(const pti_tiling *tiling, int launch, int operand, array_use *use) {
    const pti_instance *instance = instance_of_launch(tiling, launch);
    if (instance->operand[operand].reads) {
        pti_footprint_boxes(instance, operand, PTI_READS, &instance->threads, PTI_MAX_WRITE_BOXES,
                            &use->boxes);
        pti_boxes_subtract_all(&use->boxes, &use->written);
        pti_boxes_unite(&use->read_before, &use->boxes, pti_boxes_include);
    }
}

static void note_written_threads(const pti_tiling *tiling, int launch, int operand,
                                 array_use *use) {
    const pti_instance *instance = instance_of_launch(tiling, launch);
    if (instance->operand[operand].writes) {
        pti_footprint_boxes(instance, operand, PTI_WRITES, &instance->threads, PTI_MAX_WRITE_BOXES,
                            &use->boxes);
        pti_boxes_unite(&use->written, &use->boxes, pti_boxes_include);
    }
}

typedef void use_adder(const pti_tiling *tiling, int launch, int operand, array_use *use);

static void add_operands(const pti_tiling *tiling, int launch, int array, use_adder *add,
                         array_use *use) {
    for (int o = 0; o < instance_of_launch(tiling, launch)->n_operands; o++)
        if (tiling->call[launch].array[o] == array)
            add(tiling, launch, o, use);
}

/** Return whether an array is written, and nothing of that is read as it was before. */
static bool find_stored(const pti_tiling *tiling, int array, array_use *use) {
    pti_boxes_clear(&use->read_before);
    pti_boxes_clear(&use->written);
    for (int l = 0; l < tiling->n_launches; l++) {
        add_operands(tiling, l, array, add_use, use);
        add_operands(tiling, l, array, note_written_threads, use);
    }
    pti_boxes_intersect(&use->boxes, &use->read_before, &use->written);
    return use->written.n_boxes > 0 && use->boxes.n_boxes == 0;
}

static bool find_all_stored(pti_tiling *tiling) {
    array_use use = {0};
    for (int a = 0; a < tiling->n_arrays; a++)
        tiling->is_stored[a] = find_stored(tiling, a, &use);
    const bool failed = use.read_before.failed || use.written.failed || use.boxes.failed;
    pti_boxes_free(&use.read_before);
    pti_boxes_free(&use.written);
    pti_boxes_free(&use.boxes);
    return !failed;
}

static void find_threads(pti_tiling *tiling) {
    tiling->threads = instance_of_launch(tiling, 0)->threads;
    for (int l = 1; l < tiling->n_launches; l++) {
        const polytile_domain *domain = &instance_of_launch(tiling, l)->threads;
        for (int d = 0; d < domain->n_dims; d++) {
            polytile_range *range = &tiling->threads.range[d];
            range->lo = pti_min(range->lo, domain->range[d].lo);
            range->hi = pti_max(range->hi, domain->range[d].hi);
        }
    }
}

polytile_status pti_margins_find(pti_tiling *tiling, pti_text *why) {
    tiling->margin = calloc((size_t)tiling->n_launches + 1, sizeof *tiling->margin);
    tiling->is_stored = calloc((size_t)tiling->n_arrays + 1, sizeof *tiling->is_stored);
    if (tiling->margin == NULL || tiling->is_stored == NULL)
        return POLYTILE_NO_MEMORY;
    if (!find_margins(tiling, why)) {
        pti_tiling_free(tiling);
        return POLYTILE_OK;
    }
    find_threads(tiling);
    return find_all_stored(tiling) ? POLYTILE_OK : POLYTILE_NO_MEMORY;
}
