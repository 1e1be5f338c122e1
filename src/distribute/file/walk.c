#include "distribute/file/store.h"

#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

/** A row: elements of a box that lie side by side both in the array and in memory. Dimensions from
 * first on are within a row, those before count the rows. */
struct pti_stored_row {
    const polytile_domain *box;
    int first;
    int64_t n_bytes;
    int64_t done_bytes; /* of this row */
    int64_t at_bytes;   /* where the row begins in the array */
    char *memory;       /* and in memory */
    int64_t index[POLYTILE_MAX_DIMS];
    int64_t array_stride[POLYTILE_MAX_DIMS]; /* bytes to the next row along each dimension */
    int64_t memory_stride[POLYTILE_MAX_DIMS];
};

/** Find the bytes from one index to the box's next, in C order over a domain. */
static void find_strides(const polytile_domain *domain, const polytile_domain *box,
                         int64_t element_bytes, int64_t *stride) {
    int64_t next_bytes = element_bytes;
    for (int d = domain->n_dims - 1; d >= 0; d--) {
        stride[d] = next_bytes * box->range[d].step;
        next_bytes *= pti_range_count(domain->range[d]);
    }
}

/** Return the bytes from a domain's first element to a box's. */
static int64_t find_begin(const polytile_domain *domain, const polytile_domain *box,
                          int64_t element_bytes) {
    int64_t n_before = 0;
    for (int d = 0; d < domain->n_dims; d++)
        n_before =
            n_before * pti_range_count(domain->range[d]) + box->range[d].lo - domain->range[d].lo;
    return n_before * element_bytes;
}

/** Find the dimensions of a row. One joins if its indices follow each other, and all dimensions
 * after it are whole in the array and in memory. */
static void find_row(const pti_store *store, const pti_stored_box *stored, pti_stored_row *row) {
    const polytile_domain *box = &stored->box;
    bool is_rest_whole = true;
    row->first = box->n_dims;
    row->n_bytes = store->element_bytes;
    for (int d = box->n_dims - 1; d >= 0 && is_rest_whole; d--) {
        polytile_range range = box->range[d];
        if (pti_range_has_gaps(range))
            return;
        row->first = d;
        row->n_bytes *= pti_range_count(range);
        is_rest_whole = pti_range_equals(range, store->whole.range[d]) &&
                        pti_range_equals(range, stored->around.range[d]);
    }
}

static pti_stored_row first_row(const pti_store *store, const pti_stored_box *stored) {
    pti_stored_row row = {.box = &stored->box};
    find_row(store, stored, &row);
    find_strides(&store->whole, row.box, store->element_bytes, row.array_stride);
    find_strides(&stored->around, row.box, store->element_bytes, row.memory_stride);
    row.at_bytes = find_begin(&store->whole, row.box, store->element_bytes);
    row.memory = stored->memory + find_begin(&stored->around, row.box, store->element_bytes);
    for (int d = 0; d < row.box->n_dims; d++)
        row.index[d] = row.box->range[d].lo;
    return row;
}

/** Go to the box's next row; false after the last. */
static bool advance_row(pti_stored_row *row) {
    row->done_bytes = 0;
    for (int d = row->first - 1; d >= 0; d--) {
        polytile_range range = row->box->range[d];
        row->index[d] += range.step;
        row->at_bytes += row->array_stride[d];
        row->memory += row->memory_stride[d];
        if (row->index[d] <= range.hi)
            return true;
        row->index[d] = range.lo;
        row->at_bytes -= row->array_stride[d] * pti_range_count(range);
        row->memory -= row->memory_stride[d] * pti_range_count(range);
    }
    return false;
}

static int64_t next_at(const pti_stored_row *row) {
    return row->at_bytes + row->done_bytes;
}

/** Move a row down to where it belongs in the heap. */
static void sink_row(pti_walk *walk, int k) {
    pti_stored_row row = walk->row[k];
    for (int child = 2 * k + 1; child < walk->n_rows; child = 2 * k + 1) {
        if (child + 1 < walk->n_rows && next_at(&walk->row[child + 1]) < next_at(&walk->row[child]))
            child++;
        if (next_at(&row) <= next_at(&walk->row[child]))
            break;
        walk->row[k] = walk->row[child];
        k = child;
    }
    walk->row[k] = row;
}

bool pti_walk_begin(const pti_store *store, pti_walk *walk) {
    *walk = (pti_walk){.store = store};
    if (store->n_boxes == 0)
        return !store->failed;
    walk->row = malloc((size_t)store->n_boxes * sizeof *walk->row);
    if (walk->row == NULL)
        return false;
    for (int k = 0; k < store->n_boxes; k++)
        walk->row[walk->n_rows++] = first_row(store, &store->box[k]);
    for (int k = walk->n_rows / 2 - 1; k >= 0; k--)
        sink_row(walk, k);
    return !store->failed;
}

bool pti_walk_next(pti_walk *walk, int64_t most_bytes, pti_file_run *run) {
    if (walk->n_rows == 0)
        return false;
    pti_stored_row *row = &walk->row[0];
    run->at_bytes = next_at(row);
    run->memory = row->memory + row->done_bytes;
    run->n_bytes = pti_min(row->n_bytes - row->done_bytes, most_bytes);
    row->done_bytes += run->n_bytes;
    if (row->done_bytes == row->n_bytes && !advance_row(row))
        walk->row[0] = walk->row[--walk->n_rows];
    sink_row(walk, 0);
    return true;
}

void pti_walk_end(pti_walk *walk) {
    free(walk->row);
    *walk = (pti_walk){0};
}

int64_t pti_walk_collect(pti_walk *walk, char *to, int64_t most_bytes) {
    pti_file_run run;
    int64_t n_bytes = 0;
    while (n_bytes < most_bytes && pti_walk_next(walk, most_bytes - n_bytes, &run)) {
        memcpy(to + n_bytes, run.memory, (size_t)run.n_bytes);
        n_bytes += run.n_bytes;
    }
    return n_bytes;
}

void pti_walk_spread(pti_walk *walk, const char *from, int64_t n_bytes) {
    pti_file_run run;
    int64_t n_done = 0;
    while (n_done < n_bytes && pti_walk_next(walk, n_bytes - n_done, &run)) {
        memcpy(run.memory, from + n_done, (size_t)run.n_bytes);
        n_done += run.n_bytes;
    }
}
