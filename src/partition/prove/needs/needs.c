#include "partition/prove/needs/needs.h"

#include "access/footprint/affine.h"
#include "access/footprint/footprint.h"
#include "base/checked.h"
#include "partition/prove/needs/indirect_needs.h"

enum { NO_SPLIT = -1, MAX_TERMS = POLYTILE_MAX_DIMS + 1 };

/** A section of one array over the threads of a launch. */
typedef struct section_walk {
    const pti_section *section;
    const polytile_domain *array;
    int n_indices;
} section_walk;

/**
 * Some threads, and for each dimension of the array some positions in the subscript's range: the
 * p-th position of lo:hi:step is lo + p * step. Positions are limited only where the range is
 * equally long for all the threads.
 */
typedef struct section_piece {
    polytile_domain threads;
    int64_t first[POLYTILE_MAX_DIMS];
    int64_t last[POLYTILE_MAX_DIMS];
} section_piece;

/** A box around the elements of a piece; split says what to halve where the box may hold more:
 * a thread index, or n_indices + d for the positions in dimension d. */
typedef struct section_outline {
    polytile_domain box;
    int split;
} section_outline;

/** The multiples 0, size, ... (count - 1) * size that one thread index or the positions add. */
typedef struct term {
    int64_t size;
    int64_t count;
    int split;
} term;

static int64_t extent_less_one(polytile_range range) {
    return range.hi - range.lo;
}

static int64_t affine_end(const pti_affine *affine, const polytile_domain *threads, bool largest) {
    int64_t value = affine->constant;
    for (int k = 0; k < threads->n_dims; k++) {
        bool at_hi = (affine->index[k] > 0) == largest;
        value += affine->index[k] * (at_hi ? threads->range[k].hi : threads->range[k].lo);
    }
    return value;
}

/** The index of most threads among those that several dimensions name: the elements lie along a
 * diagonal. */
static int diagonal_index(const section_walk *walk, const polytile_domain *threads) {
    int found = NO_SPLIT;
    for (int k = 0; k < walk->n_indices; k++) {
        int n_named = 0;
        for (int d = 0; d < walk->section->n_dims; d++)
            n_named += pti_subscript_names(&walk->section->subscript[d], k);
        int64_t extent = extent_less_one(threads->range[k]);
        if (n_named > 1 && extent > (found < 0 ? 0 : extent_less_one(threads->range[found])))
            found = k;
    }
    return found;
}

/** The index of most threads among those that change the length of a subscript's range. */
static int varying_index(const pti_subscript *subscript, const polytile_domain *threads) {
    int found = NO_SPLIT;
    for (int k = 0; k < threads->n_dims; k++) {
        int64_t extent = extent_less_one(threads->range[k]);
        if (subscript->lo.index[k] != subscript->hi.index[k] &&
            extent > (found < 0 ? 0 : extent_less_one(threads->range[found])))
            found = k;
    }
    return found;
}

static void insert_term(term *terms, int *n_terms, term added) {
    int at = (*n_terms)++;
    for (; at > 0 && terms[at - 1].size > added.size; at--)
        terms[at] = terms[at - 1];
    terms[at] = added;
}

static int list_terms(const pti_subscript *subscript, const section_piece *piece, int d,
                      term *terms) {
    int n_terms = 0;
    int64_t n_positions = piece->last[d] - piece->first[d] + 1;
    if (n_positions > 1)
        insert_term(terms, &n_terms,
                    (term){subscript->step, n_positions, piece->threads.n_dims + d});
    for (int k = 0; k < piece->threads.n_dims; k++) {
        int64_t count = extent_less_one(piece->threads.range[k]) + 1;
        if (subscript->lo.index[k] != 0 && count > 1)
            insert_term(terms, &n_terms, (term){pti_abs(subscript->lo.index[k]), count, k});
    }
    return n_terms;
}

static int64_t common_step(const term *terms, int n_terms) {
    int64_t step = 0;
    for (int t = 0; t < n_terms; t++)
        step = pti_gcd(step, terms[t].size);
    return step == 0 ? 1 : step;
}

/**
 * What to halve so that the sums of the terms become all multiples of step up to the largest sum;
 * NO_SPLIT if they are. They are unless a term, smallest first, jumps farther than the smaller ones
 * reach. Halving that one leaves a box for each of its multiples; halving smaller ones leaves a box
 * for each of their sums: whichever are fewer.
 */
static int find_split(const term *terms, int n_terms, int64_t step) {
    int64_t reach = 0;
    for (int t = 0; t < n_terms; t++) {
        if (terms[t].size > reach + step)
            return terms[terms[t].count - 1 <= reach / step ? t : 0].split;
        reach += terms[t].size * (terms[t].count - 1);
    }
    return NO_SPLIT;
}

/** Around a subscript whose range is longer for some threads than for others. */
static polytile_range varying_range(const pti_subscript *subscript,
                                    const polytile_domain *threads) {
    int64_t step = subscript->step;
    for (int k = 0; k < threads->n_dims; k++)
        if (extent_less_one(threads->range[k]) > 0)
            step = pti_gcd(step, subscript->lo.index[k]);
    return pti_range(affine_end(&subscript->lo, threads, false),
                     affine_end(&subscript->hi, threads, true), step);
}

/** Around a subscript whose range is equally long for all threads; *split if there are gaps. */
static polytile_range constant_range(const pti_subscript *subscript, section_piece *piece, int d,
                                     int *split) {
    int64_t lo = affine_end(&subscript->lo, &piece->threads, false);
    int64_t length = affine_end(&subscript->hi, &piece->threads, false) - lo;
    if (length < 0)
        return pti_range_empty();
    piece->last[d] = pti_min(piece->last[d], length / subscript->step);
    term terms[MAX_TERMS];
    int n_terms = list_terms(subscript, piece, d, terms);
    int64_t step = common_step(terms, n_terms);
    int gap = find_split(terms, n_terms, step);
    if (gap != NO_SPLIT)
        *split = gap;
    int64_t last_lo = affine_end(&subscript->lo, &piece->threads, true);
    return pti_range(lo + piece->first[d] * subscript->step,
                     last_lo + piece->last[d] * subscript->step, step);
}

/** Around what an indirect section has, which is held as a box. */
static section_outline indirect_outline_of(const section_walk *walk, const section_piece *piece) {
    section_outline outline = {.split = NO_SPLIT};
    pti_indirect_needs_hull(walk->section, walk->array, &piece->threads, &outline.box);
    return outline;
}

static section_outline outline_of(const section_walk *walk, section_piece *piece) {
    if (walk->section->indirection != NULL)
        return indirect_outline_of(walk, piece);
    section_outline outline = {.box = {.n_dims = walk->section->n_dims}, .split = NO_SPLIT};
    for (int d = 0; d < walk->section->n_dims; d++) {
        const pti_subscript *subscript = &walk->section->subscript[d];
        int varying = varying_index(subscript, &piece->threads);
        polytile_range range = varying < 0 ? constant_range(subscript, piece, d, &outline.split)
                                           : varying_range(subscript, &piece->threads);
        if (varying >= 0)
            outline.split = varying;
        outline.box.range[d] = pti_range_intersect(range, walk->array->range[d]);
        if (pti_range_is_empty(outline.box.range[d]))
            return (section_outline){pti_box_empty(walk->section->n_dims), NO_SPLIT};
    }
    int diagonal = diagonal_index(walk, &piece->threads);
    if (diagonal >= 0)
        outline.split = diagonal;
    return outline;
}

static section_piece half_of(const section_piece *whole, int split, bool upper) {
    section_piece half = *whole;
    bool is_thread = split < whole->threads.n_dims;
    int d = is_thread ? split : split - whole->threads.n_dims;
    int64_t *lo = is_thread ? &half.threads.range[d].lo : &half.first[d];
    int64_t *hi = is_thread ? &half.threads.range[d].hi : &half.last[d];
    int64_t middle = *lo + (*hi - *lo) / 2;
    *(upper ? lo : hi) = upper ? middle + 1 : middle;
    return half;
}

static section_walk walk_of(const pti_instance *instance, const pti_section *section) {
    return (section_walk){section, pti_section_domain(instance, section), instance->n_indices};
}

static section_piece whole_piece(const polytile_domain *threads) {
    section_piece whole = {.threads = *threads};
    for (int d = 0; d < POLYTILE_MAX_DIMS; d++)
        whole.last[d] = INT64_MAX;
    return whole;
}

static bool piece_covered(const section_walk *walk, section_piece *piece, const pti_boxes *there,
                          polytile_domain *missing) {
    section_outline outline = outline_of(walk, piece);
    if (pti_box_is_empty(&outline.box) || pti_boxes_cover(there, &outline.box))
        return true;
    *missing = outline.box;
    if (outline.split == NO_SPLIT)
        return false;
    section_piece lower = half_of(piece, outline.split, false);
    section_piece upper = half_of(piece, outline.split, true);
    return piece_covered(walk, &lower, there, missing) &&
           piece_covered(walk, &upper, there, missing);
}

/** The smaller of two pieces stays whole, unless only that one is no box. */
static bool pieces_meet(const section_walk *walk, section_piece *piece, const section_walk *other,
                        section_piece *its, polytile_domain *common) {
    section_outline outline = outline_of(walk, piece), its_outline = outline_of(other, its);
    if (!pti_box_intersect(&outline.box, &its_outline.box, common))
        return false;
    if (outline.split == NO_SPLIT && its_outline.split == NO_SPLIT)
        return true;
    if (outline.split == NO_SPLIT ||
        (its_outline.split != NO_SPLIT &&
         pti_box_count(&its_outline.box) > pti_box_count(&outline.box)))
        return pieces_meet(other, its, walk, piece, common);
    section_piece lower = half_of(piece, outline.split, false);
    section_piece upper = half_of(piece, outline.split, true);
    return pieces_meet(walk, &lower, other, its, common) ||
           pieces_meet(walk, &upper, other, its, common);
}

/** most: boxes; 0: any number. */
static void piece_list(const section_walk *walk, section_piece *piece, int most, pti_boxes *list) {
    section_outline outline = outline_of(walk, piece);
    if (pti_box_is_empty(&outline.box))
        return;
    if (outline.split == NO_SPLIT || most == 1) {
        pti_boxes_append(list, &outline.box);
        return;
    }
    section_piece lower = half_of(piece, outline.split, false);
    section_piece upper = half_of(piece, outline.split, true);
    piece_list(walk, &lower, most / 2, list);
    piece_list(walk, &upper, most / 2, list);
}

bool pti_needs_is_box(const pti_instance *instance, const pti_section *section,
                      const polytile_domain *threads, polytile_domain *hull) {
    section_walk walk = walk_of(instance, section);
    section_piece whole = whole_piece(threads);
    section_outline outline = outline_of(&walk, &whole);
    *hull = outline.box;
    return outline.split == NO_SPLIT;
}

/** Return whether all is there that threads look up within a band. */
static bool is_band_covered(const pti_instance *instance, const section_walk *walk,
                            const polytile_domain *threads, const pti_boxes *there,
                            polytile_domain *missing) {
    pti_section looked_up = *walk->section;
    looked_up.indirection = pti_needs_in_band(instance, walk->section);
    return looked_up.indirection == NULL ||
           pti_indirect_needs_covered(&looked_up, walk->array, threads, there, missing);
}

bool pti_needs_covered(const pti_instance *instance, const pti_section *section,
                       const polytile_domain *threads, const pti_boxes *there,
                       polytile_domain *missing) {
    section_walk walk = walk_of(instance, section);
    section_piece whole = whole_piece(threads);
    if (piece_covered(&walk, &whole, there, missing))
        return is_band_covered(instance, &walk, threads, there, missing);
    return section->indirection != NULL &&
           pti_indirect_needs_covered(section, walk.array, threads, there, missing);
}

bool pti_needs_meet(const pti_instance *instance, const pti_section *section,
                    const pti_section *other, const polytile_domain *threads,
                    polytile_domain *common) {
    section_walk walk = walk_of(instance, section), its_walk = walk_of(instance, other);
    section_piece whole = whole_piece(threads), its_whole = whole_piece(threads);
    return pieces_meet(&walk, &whole, &its_walk, &its_whole, common);
}

void pti_needs_list(const pti_instance *instance, const pti_section *section,
                    const polytile_domain *threads, pti_boxes *list) {
    section_walk walk = walk_of(instance, section);
    section_piece whole = whole_piece(threads);
    piece_list(&walk, &whole, 0, list);
}

void pti_needs_list_at_most(const pti_instance *instance, const pti_section *section,
                            const polytile_domain *threads, int most, pti_boxes *list) {
    section_walk walk = walk_of(instance, section);
    section_piece whole = whole_piece(threads);
    piece_list(&walk, &whole, most, list);
}

void pti_needs_list_operand(const pti_instance *instance, int number,
                            const polytile_domain *threads, pti_boxes *used) {
    const pti_operand *operand = &instance->operand[number];
    if (operand->partial) {
        polytile_domain hull = pti_footprint_hull(instance, number, PTI_TOUCHES, threads);
        pti_boxes_append(&used[PTI_WRITTEN], &hull);
        return;
    }
    for (int s = 0; s < operand->n_sections; s++) {
        const pti_section *section = &instance->section[operand->first_section + s];
        pti_needs_list(instance, section, threads,
                       &used[section->role == POLYTILE_IN ? PTI_ONLY_READ : PTI_WRITTEN]);
    }
}
