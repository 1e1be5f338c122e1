#include "distribute/share/home.h"

#include "access/footprint/affine.h"
#include "access/set/boxes.h"
#include "base/checked.h"

/* The choice of the operand by which the threads of a launch are divided. */

/* Return the only index that an expression names; POLYTILE_MAX_DIMS: none, or several. */
static int single_index(const pti_affine *affine) {
    int only = POLYTILE_MAX_DIMS, n_named = 0;
    for (int k = 0; k < POLYTILE_MAX_DIMS; k++)
        if (affine->index[k] != 0) {
            only = k;
            n_named++;
        }
    return n_named == 1 ? only : POLYTILE_MAX_DIMS;
}

/* Return the only index that an expression names, or of several the one whose steps are longer than
 * what all others add up to, as i of 4 * i + j for j below 4; POLYTILE_MAX_DIMS: none. */
static int leading_index(const pti_affine *affine, const polytile_domain *threads) {
    int leading = POLYTILE_MAX_DIMS;
    int64_t others = 0;
    for (int k = 0; k < threads->n_dims; k++)
        if (affine->index[k] != 0 && (leading == POLYTILE_MAX_DIMS ||
                                      pti_abs(affine->index[k]) > pti_abs(affine->index[leading])))
            leading = k;
    for (int k = 0; k < threads->n_dims; k++) {
        const int64_t extent = pti_max(0, threads->range[k].hi - threads->range[k].lo);
        int64_t own;
        if (k != leading && (pti_mul_overflows(pti_abs(affine->index[k]), extent, &own) ||
                             pti_add_overflows(others, own, &others)))
            return POLYTILE_MAX_DIMS;
    }
    return leading != POLYTILE_MAX_DIMS && pti_abs(affine->index[leading]) > others
               ? leading
               : POLYTILE_MAX_DIMS;
}

static bool any_reduces(const pti_instance *instance) {
    bool any = false;
    for (int p = 0; p < instance->n_operands; p++)
        any = any || instance->operand[p].reduces;
    return any;
}

/* Return the first section of an operand that counts; -1: none does. */
static int first_section(const pti_instance *instance, int operand, pti_touch touch) {
    const pti_operand *of = &instance->operand[operand];
    for (int s = of->first_section; s < of->first_section + of->n_sections; s++)
        if (pti_section_counts(&instance->section[s], touch))
            return s;
    return -1;
}

/* Return whether more than one member owns elements, seen along one dimension. */
static bool is_cut(const pti_ownership *ownership, int dim) {
    return ownership->grid.extent[dim] > 1 &&
           ownership->domain.range[dim].lo < ownership->domain.range[dim].hi;
}

/* Let an index follow each dimension that is cut, or is not; none follows two. Where threads
 * combine it is the only one that the dimension names. */
static void match_indices(const pti_instance *instance, const pti_ownership *ownership,
                          bool wants_cut, pti_home *home) {
    const pti_section *section = &instance->section[home->section];
    const bool is_only = any_reduces(instance);
    for (int d = 0; d < section->n_dims; d++) {
        const pti_affine *anchor = &section->subscript[d].lo;
        int index = is_only ? single_index(anchor) : leading_index(anchor, &instance->threads);
        bool is_taken = is_cut(ownership, d) != wants_cut;
        for (int other = 0; other < section->n_dims; other++)
            is_taken = is_taken || home->index[other] == index;
        if (!is_taken)
            home->index[d] = index;
    }
}

/* Deal out by one operand; false if it is followed in no dimension that is cut. */
static bool divide_by(const pti_shared_launch *launch, const pti_ownership *ownerships, int operand,
                      pti_touch touch, pti_home *home) {
    const pti_ownership *ownership = pti_home_owner(launch, ownerships, operand);
    bool divides = false;
    *home = (pti_home){.operand = operand,
                       .section = first_section(launch->call.instance, operand, touch)};
    for (int d = 0; d < POLYTILE_MAX_DIMS; d++)
        home->index[d] = POLYTILE_MAX_DIMS;
    if (home->section < 0)
        return false;
    match_indices(launch->call.instance, ownership, true, home);
    for (int d = 0; d < ownership->domain.n_dims; d++)
        divides = divides || home->index[d] != POLYTILE_MAX_DIMS;
    match_indices(launch->call.instance, ownership, false, home);
    return divides;
}

/* Return whether different values of an index never write one element, since a dimension moves on
 * with it by more than all written sections are wide together. */
static bool dimension_separates(const pti_instance *instance, const pti_operand *operand, int dim,
                                int index) {
    int64_t factor = 0, lo = INT64_MAX, hi = INT64_MIN;
    for (int s = operand->first_section; s < operand->first_section + operand->n_sections; s++) {
        const pti_subscript *subscript = &instance->section[s].subscript[dim];
        if (!pti_section_counts(&instance->section[s], PTI_WRITES))
            continue;
        int64_t own = subscript->lo.index[index];
        if (single_index(&subscript->lo) != index || single_index(&subscript->hi) != index ||
            subscript->hi.index[index] != own || (factor != 0 && own != factor))
            return false;
        factor = own;
        lo = pti_min(lo, subscript->lo.constant);
        hi = pti_max(hi, subscript->hi.constant);
    }
    return hi < lo || hi - lo < pti_abs(factor);
}

static bool index_separates(const pti_instance *instance, const pti_operand *operand, int index) {
    for (int d = 0; d < operand->domain.n_dims; d++)
        if (dimension_separates(instance, operand, d, index))
            return true;
    return false;
}

/* Return whether members, whatever they write of an operand, never write the same element of it,
 * unless they run the same threads. */
static bool separates_members(const pti_home *home, const pti_shared_launch *launch,
                              const pti_ownership *ownerships, int operand) {
    const pti_instance *instance = launch->call.instance;
    const pti_member_grid *grid = &pti_home_owner(launch, ownerships, home->operand)->grid;
    for (int d = 0; d < grid->n_dims; d++)
        if (grid->extent[d] > 1 && home->index[d] != POLYTILE_MAX_DIMS &&
            !index_separates(instance, &instance->operand[operand], home->index[d]))
            return false;
    return true;
}

/* Return whether all that is written of an operand has the anchor's coordinate in one dimension,
 * which is divided as that of the home's operand is. */
static bool keeps_to_anchor(const pti_home *home, const pti_shared_launch *launch,
                            const pti_ownership *ownerships, int operand, int dim) {
    const pti_instance *instance = launch->call.instance;
    const pti_operand *of = &instance->operand[operand];
    const pti_affine *anchor = &instance->section[home->section].subscript[dim].lo;
    if (single_index(anchor) == POLYTILE_MAX_DIMS ||
        !pti_ownership_agrees(pti_home_owner(launch, ownerships, home->operand),
                              pti_home_owner(launch, ownerships, operand), dim))
        return false;
    for (int s = of->first_section; s < of->first_section + of->n_sections; s++) {
        const pti_subscript *subscript = &instance->section[s].subscript[dim];
        if (!pti_affine_equals(&subscript->lo, anchor) ||
            !pti_affine_equals(&subscript->hi, anchor))
            return false;
    }
    return true;
}

/* Return whether what a member writes of an operand lies with members that run the same threads. */
static bool stays_home(const pti_home *home, const pti_shared_launch *launch,
                       const pti_ownership *ownerships, int operand) {
    const pti_member_grid *grid = &pti_home_owner(launch, ownerships, home->operand)->grid;
    bool stays = grid->n_dims == pti_home_owner(launch, ownerships, operand)->grid.n_dims;
    for (int d = 0; stays && d < grid->n_dims; d++)
        stays = grid->extent[d] == pti_home_owner(launch, ownerships, operand)->grid.extent[d] &&
                (grid->extent[d] == 1 || home->index[d] == POLYTILE_MAX_DIMS ||
                 keeps_to_anchor(home, launch, ownerships, operand, d));
    return stays;
}

static bool all_reduce(const pti_instance *instance) {
    bool all = true;
    for (int p = 0; p < instance->n_operands; p++)
        all = all && (!instance->operand[p].writes || instance->operand[p].reduces);
    return all;
}

/* Return whether what is combined is one box; of others, what lies between is kept, but not by
 * those that begin with the identity. */
static bool combines_a_box(const pti_instance *instance, int operand, bool *failed) {
    pti_boxes written = {0}, rest = {0};
    polytile_domain hull = pti_footprint_hull(instance, operand, PTI_WRITES, &instance->threads);
    polytile_domain box = pti_box_without_steps(&hull);
    pti_footprint_boxes(instance, operand, PTI_WRITES, &instance->threads, PTI_MAX_WRITE_BOXES,
                        &written);
    pti_boxes_assign(&rest, &box);
    pti_boxes_subtract_all(&rest, &written);
    bool covers = !instance->operand[operand].fresh || rest.n_boxes == 0;
    *failed = *failed || rest.failed;
    pti_boxes_free(&written);
    pti_boxes_free(&rest);
    return covers;
}

bool pti_home_combines(const pti_home *home, const pti_shared_launch *launch,
                       const pti_ownership *ownerships, int operand) {
    return home->splits && launch->call.instance->operand[operand].reduces &&
           !separates_members(home, launch, ownerships, operand);
}

/* Return whether one written operand can be divided so. */
static bool admit_operand(pti_home *home, const pti_shared_launch *launch,
                          const pti_ownership *ownerships, int operand) {
    if (pti_home_combines(home, launch, ownerships, operand))
        return combines_a_box(launch->call.instance, operand, &home->failed);
    return !launch->call.instance->operand[operand].partial ||
           (!home->splits && stays_home(home, launch, ownerships, operand));
}

/* Return whether a member that runs threads of others for the home's operand would own elements of
 * another one that it then reduces a part of only. */
static bool reduces_in_part(const pti_home *home, const pti_shared_launch *launch,
                            const pti_ownership *ownerships) {
    for (int p = 0; home->widens && p < launch->call.instance->n_operands; p++)
        if (p != home->operand && launch->call.instance->operand[p].reduces &&
            !stays_home(home, launch, ownerships, p))
            return true;
    return false;
}

/* Return whether threads can be divided so; finds out what that takes. */
static bool admit_home(const pti_shared_launch *launch, const pti_ownership *ownerships,
                       pti_home *home) {
    const pti_instance *instance = launch->call.instance;
    bool admits = true;
    for (int p = 0; p < instance->n_operands; p++) {
        bool is_dealt = p == home->operand;
        if (!instance->operand[p].reduces || separates_members(home, launch, ownerships, p))
            continue;
        home->widens = home->widens || is_dealt;
        home->splits = home->splits || !is_dealt;
    }
    home->splits = home->splits || reduces_in_part(home, launch, ownerships);
    home->widens = home->widens && !home->splits;
    for (int p = 0; admits && p < instance->n_operands; p++)
        admits = !instance->operand[p].writes || admit_operand(home, launch, ownerships, p);
    return admits;
}

/* Return the best home by an operand of which elements are touched so. */
static pti_home choose_operand(const pti_shared_launch *launch, const pti_ownership *ownerships,
                               pti_touch touch) {
    const pti_instance *instance = launch->call.instance;
    pti_home best = {.operand = -1}, home;
    int64_t most = 0;
    bool failed = false;
    for (int p = 0; p < instance->n_operands; p++) {
        int64_t n_elements = pti_box_count(&instance->operand[p].domain);
        if (n_elements <= most || !divide_by(launch, ownerships, p, touch, &home))
            continue;
        bool admits = admit_home(launch, ownerships, &home);
        failed = failed || home.failed;
        best = admits ? home : best;
        most = admits ? n_elements : most;
    }
    best.failed = failed;
    return best;
}

bool pti_home_repeats(const pti_home *home, const pti_shared_launch *launch,
                      const pti_ownership *ownerships) {
    if (home->is_of_slots)
        return false;
    bool repeats = home->operand < 0 || home->widens;
    if (repeats || home->splits)
        return repeats;
    const pti_ownership *ownership = pti_home_owner(launch, ownerships, home->operand);
    for (int d = 0; d < ownership->grid.n_dims; d++)
        repeats = repeats || (ownership->grid.extent[d] > 1 && home->index[d] == POLYTILE_MAX_DIMS);
    return repeats;
}

/* Let the first member run all threads. */
static pti_home run_on_first(const pti_instance *instance) {
    pti_home home = {.splits = true, .is_alone = true};
    while (!instance->operand[home.operand].writes)
        home.operand++;
    home.section = instance->operand[home.operand].first_section;
    for (int d = 0; d < POLYTILE_MAX_DIMS; d++)
        home.index[d] = POLYTILE_MAX_DIMS;
    return home;
}

/* Let the first of the members that would run the same threads run them, or the first of all. */
static pti_home home_that_runs_once(const pti_home *home, const pti_shared_launch *launch,
                                    const pti_ownership *ownerships) {
    const pti_instance *instance = launch->call.instance;
    pti_home once = *home;
    bool admits = home->operand >= 0 && !home->widens;
    once.splits = true;
    for (int p = 0; admits && p < instance->n_operands; p++)
        admits = !instance->operand[p].writes || admit_operand(&once, launch, ownerships, p);
    pti_home chosen = admits ? once : run_on_first(instance);
    chosen.failed = once.failed;
    return chosen;
}

/* Return whether slots may go by a layout of their own: any member may write what they do. */
static bool have_slots_a_layout(const pti_instance *instance) {
    bool have = instance->is_team;
    for (int p = 0; p < instance->n_operands; p++)
        have = have && !instance->operand[p].reduces &&
               !(instance->operand[p].writes && instance->operand[p].partial);
    return have;
}

static pti_home home_of_slots(const pti_shared_launch *launch, const pti_ownership *ownerships) {
    const pti_ownership slots = pti_home_slots(launch, ownerships);
    return (pti_home){.operand = -1, .is_of_slots = true, .failed = !pti_ownership_ask(&slots)};
}

pti_home pti_home_of(const pti_shared_launch *launch, const pti_ownership *ownerships) {
    if (have_slots_a_layout(launch->call.instance))
        return home_of_slots(launch, ownerships);
    pti_home home = choose_operand(launch, ownerships, PTI_WRITES);
    if (home.operand < 0 && !home.failed && all_reduce(launch->call.instance))
        home = choose_operand(launch, ownerships, PTI_READS);
    if (launch->runs_once && pti_home_repeats(&home, launch, ownerships))
        home = home_that_runs_once(&home, launch, ownerships);
    return home;
}
