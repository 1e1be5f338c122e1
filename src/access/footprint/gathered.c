#include "access/footprint/gathered.h"

#include "access/array/index_block.h"
#include "access/footprint/affine.h"
#include "access/footprint/footprint.h"
#include "access/footprint/indirection.h"
#include "base/checked.h"

#include <string.h>

/** The cells in which indices between the least and the largest one are told apart; the elements
 * that are looked at first, and those that are loaded at a time; in how many parts elements are
 * looked at where their least and largest values leave cells open; the most gaps that are left
 * out. */
enum { N_CELLS = 1024, N_FIRST_LOOKS = 512, CHUNK = 256, PARTS = 16, MOST_GAPS = 15 };

/** Gaps are worth it from this part of the hull on; and they have to save this many bytes for each
 * element that is looked at, which takes as long as a copy of them. */
enum { WORTH_PART = 4, WORTH_BYTES = 8 };

/** Cells from first to last. */
typedef struct gap {
    int first;
    int last;
} gap;

/** What some threads gather in one dimension. */
typedef struct gathering {
    const pti_index_array *array;
    polytile_range elements; /* of it */
    int64_t least_plus;      /* on what an element holds */
    int64_t most_plus;
    polytile_range hull; /* of the indices */
    int shift;           /* a cell has 1 << shift indices */
    int n_cells;
    bool is_met[N_CELLS];
    int n_gaps; /* the largest ones, in any order */
    gap gaps[MOST_GAPS];
} gathering;

/** Return the only dimension in which a section gathers; -1: there is none. */
static int find_gathered(const pti_section *section) {
    int found = -1;
    for (int d = 0; d < section->n_dims; d++) {
        if (!pti_section_is_indirect(section, d) || !section->indirection->gathers[d])
            continue;
        if (found >= 0)
            return -1;
        found = d;
    }
    return found;
}

/** False: the index array has several dimensions, or nothing is looked up. */
static bool begin_gathering(const pti_instance *instance, const pti_looked_up *end,
                            const polytile_domain *threads, polytile_range hull, gathering *of) {
    const polytile_domain elements = pti_section_hull(instance, &end->section, threads);
    if (elements.n_dims != 1 || pti_box_is_empty(&elements))
        return false;
    of->array = end->array;
    of->elements = elements.range[0];
    of->least_plus = pti_affine_min(&end->plus, threads);
    of->most_plus = pti_affine_max(&end->plus, threads);
    of->hull = hull;
    of->shift = 0;
    while ((hull.hi - hull.lo) >> of->shift >= N_CELLS)
        of->shift++;
    of->n_cells = (int)((hull.hi - hull.lo) >> of->shift) + 1;
    return true;
}

static int cell_of(const gathering *of, int64_t index) {
    const int64_t inside = pti_max(of->hull.lo, pti_min(of->hull.hi, index));
    return (int)((inside - of->hull.lo) >> of->shift);
}

static void meet_value(gathering *of, int64_t value) {
    const int first = cell_of(of, value + of->least_plus),
              last = cell_of(of, value + of->most_plus);
    of->is_met[first] = true;
    for (int c = first + 1; c <= last; c++)
        of->is_met[c] = true;
}

/** Look at n elements that lie so far apart, from the first one on. */
static void meet_each(gathering *of, int64_t first, int64_t n, int64_t n_apart) {
    int64_t value[CHUNK];
    for (int64_t begin = 0; begin < n; begin += CHUNK) {
        const int n_loaded = (int)pti_min(CHUNK, n - begin);
        pti_index_array_load(of->array, first + begin * n_apart, n_apart, n_loaded, value);
        for (int k = 0; k < n_loaded; k++)
            meet_value(of, value[k]);
    }
}

/** Meet the cells of the least and the largest of some values. Returns whether all cells between
 * them are met, too, so that none of those values meets another one. */
static bool meet_ends(gathering *of, pti_value_range values) {
    const int first = cell_of(of, values.least + of->least_plus),
              last = cell_of(of, values.most + of->most_plus);
    meet_value(of, values.least);
    meet_value(of, values.most);
    return memchr(&of->is_met[first], false, (size_t)(last - first) + 1) == NULL;
}

/** Look at all of some elements, in ever shorter parts while what the array knows of a part leaves
 * cells open. Parts begin where the array's own groups do. */
static void meet_all(gathering *of, polytile_range elements) {
    const int64_t base = of->array->domain.range[0].lo, n = elements.hi - elements.lo + 1;
    int64_t n_part = PTI_INDEX_BLOCK;
    if (meet_ends(of, pti_index_array_find_values(of->array, elements)))
        return;
    if (n <= PTI_INDEX_BLOCK) {
        meet_each(of, elements.lo, n, 1);
        return;
    }
    while (n_part * PARTS < n)
        n_part *= PARTS;
    for (int64_t end, first = elements.lo; first <= elements.hi; first = end) {
        end = base + ((first - base) / n_part + 1) * n_part;
        meet_all(of, (polytile_range){first, pti_min(end - 1, elements.hi), 1});
    }
}

/** Look at elements that lie so far apart. The ends of the hull are met in any case. */
static void meet_cells(gathering *of, int64_t n_apart) {
    memset(of->is_met, 0, sizeof of->is_met);
    of->is_met[0] = of->is_met[of->n_cells - 1] = true;
    if (n_apart == 1)
        meet_all(of, of->elements);
    else
        meet_each(of, of->elements.lo, (of->elements.hi - of->elements.lo) / n_apart + 1, n_apart);
}

static int size_of(gap one) {
    return one.last - one.first + 1;
}

/** The first of the smallest gaps that are kept. */
static int find_smallest(const gathering *of) {
    int smallest = 0;
    for (int k = 1; k < of->n_gaps; k++)
        if (size_of(of->gaps[k]) < size_of(of->gaps[smallest]))
            smallest = k;
    return smallest;
}

/** Keep a gap if it is one of the largest. smallest: of those that are kept, if they are the most
 * that may be. */
static void keep_gap(gathering *of, int most, gap found, int *smallest) {
    if (of->n_gaps < most)
        of->gaps[of->n_gaps++] = found;
    else if (size_of(of->gaps[*smallest]) < size_of(found))
        of->gaps[*smallest] = found;
    else
        return;
    *smallest = find_smallest(of);
}

/** Find the largest gaps between cells that are met. Returns the indices in them. */
static int64_t find_gaps(gathering *of, int most) {
    int64_t n_indices = 0;
    int before = -1, smallest = 0;
    of->n_gaps = 0;
    for (int c = 0; c < of->n_cells; c++) {
        if (!of->is_met[c])
            continue;
        if (c > before + 1)
            keep_gap(of, most, (gap){before + 1, c - 1}, &smallest);
        before = c;
    }
    for (int k = 0; k < of->n_gaps; k++)
        n_indices += (int64_t)size_of(of->gaps[k]) << of->shift;
    return n_indices;
}

/** Return whether gaps of n_indices are worth it. bytes: of one index; n_looks: it takes to
 * find them. */
static bool are_worth(const gathering *of, int64_t n_indices, int64_t bytes, int64_t n_looks) {
    const int64_t n_hull = of->hull.hi - of->hull.lo + 1;
    return n_indices > 0 && n_indices >= n_hull / WORTH_PART &&
           (double)n_indices * (double)bytes >= WORTH_BYTES * (double)n_looks;
}

/** Find gaps that are worth it, by a few looks first: those between some elements contain those
 * between all of them. Not even these are needed where the whole hull would not be worth it. False:
 * there are none. */
static bool find_worthy_gaps(gathering *of, int most, int64_t bytes) {
    const int64_t n_elements = of->elements.hi - of->elements.lo + 1;
    const int64_t n_apart = n_elements / N_FIRST_LOOKS + 1;
    if (n_apart > 1 && !are_worth(of, of->hull.hi - of->hull.lo + 1, bytes, n_elements))
        return false;
    meet_cells(of, n_apart);
    if (!are_worth(of, find_gaps(of, most), bytes, n_apart == 1 ? 0 : n_elements))
        return false;
    if (n_apart == 1)
        return true;
    meet_cells(of, 1);
    return are_worth(of, find_gaps(of, most), bytes, 0);
}

/** Keep only the gaps apart: all other cells count as met. */
static void fill_other_gaps(gathering *of) {
    memset(of->is_met, 1, sizeof of->is_met);
    for (int k = 0; k < of->n_gaps; k++)
        memset(&of->is_met[of->gaps[k].first], 0, (size_t)size_of(of->gaps[k]));
}

/** Add a box for each run of cells that are met. */
static void add_runs(const gathering *of, int dim, const polytile_domain *hull, pti_boxes *boxes) {
    polytile_domain box = *hull;
    for (int c = 0; c < of->n_cells; c++) {
        if (!of->is_met[c])
            continue;
        const int first = c;
        while (c + 1 < of->n_cells && of->is_met[c + 1])
            c++;
        box.range[dim].lo = of->hull.lo + ((int64_t)first << of->shift);
        box.range[dim].hi = pti_min(of->hull.hi, of->hull.lo + (((int64_t)c + 1) << of->shift) - 1);
        pti_boxes_add(boxes, &box);
    }
}

bool pti_section_add_gathered(const pti_instance *instance, const pti_section *section,
                              const polytile_domain *threads, const polytile_domain *hull,
                              int64_t max_boxes, pti_boxes *boxes) {
    const int most = (int)pti_min(MOST_GAPS, max_boxes - 1), dim = find_gathered(section);
    gathering of;
    if (most < 1 || dim < 0 ||
        !begin_gathering(instance, &section->indirection->lo[dim], threads, hull->range[dim], &of))
        return false;
    const int64_t n_indices = of.hull.hi - of.hull.lo + 1;
    const int64_t bytes =
        pti_box_count(hull) / n_indices * instance->operand[section->operand].element_bytes;
    if (!find_worthy_gaps(&of, most, bytes))
        return false;
    fill_other_gaps(&of);
    add_runs(&of, dim, hull, boxes);
    return true;
}
