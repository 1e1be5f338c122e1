#include "distribute/mpi/array_open.h"

#include "access/set/box_text.h"
#include "base/plural.h"
#include "launch/host/copy/box_copy.h"
#include "launch/host/host.h"
#include <polytile/mpi.h>

#include <stdio.h>

/* Copy boxes that a rank owns from and to the program's memory. */

/** A call of one rank. */
typedef struct copy_request {
    const polytile_domain *box; /* NULL or empty: nothing */
    void *elements;
    bool puts;
} copy_request;

static bool is_nothing(const copy_request *of) {
    return of->box == NULL || pti_box_is_empty(of->box);
}

static polytile_status fail_owner(const pti_open_array *open, const polytile_domain *box) {
    polytile_context *ctx = pti_spread_context(&open->spread);
    pti_text text = {0};
    pti_box_write(&text, box);
    polytile_status status = text.failed
                                 ? pti_fail_memory(ctx, open->array->name, (double)text.length)
                                 : pti_fail(ctx, POLYTILE_INVALID,
                                            "array %s: this rank does not own all of %s; "
                                            "polytile_mpi_array_get_box() tells what it owns",
                                            open->array->name, text.data);
    pti_text_free(&text);
    return status;
}

/** Check the box and the memory of a request. Errors: INVALID. */
static polytile_status check_box(const pti_open_array *open, const copy_request *of) {
    polytile_context *ctx = pti_spread_context(&open->spread);
    const char *name = open->array->name;
    if (of->box->n_dims != open->array->domain.n_dims)
        return pti_fail(ctx, POLYTILE_INVALID, "array %s: a box of %d %s; it has %d", name,
                        of->box->n_dims, pti_plural(of->box->n_dims, "dimension", "dimensions"),
                        open->array->domain.n_dims);
    for (int d = 0; d < of->box->n_dims; d++) {
        if (of->box->range[d].step != 1)
            return pti_fail(ctx, POLYTILE_INVALID,
                            "array %s: the box has step %lld in dimension %d; copy boxes of "
                            "steps 1",
                            name, (long long)of->box->range[d].step, d);
    }
    return POLYTILE_OK;
}

static polytile_status check_copied_boxes(const pti_open_array *open, const copy_request *of) {
    polytile_context *ctx = pti_spread_context(&open->spread);
    polytile_status status = POLYTILE_OK;
    if (is_nothing(of))
        return POLYTILE_OK;
    PTI_TRY(check_box(open, of));
    if (!pti_boxes_cover(&open->owned, of->box))
        PTI_TRY(fail_owner(open, of->box));
    if (of->elements == NULL)
        PTI_TRY(pti_fail(ctx, POLYTILE_INVALID, "array %s: the elements of its box are NULL",
                         open->array->name));
done:
    return status;
}

static void copy_common_box(const pti_stored_box *stored, int64_t element_bytes,
                            const copy_request *of, const polytile_domain *common) {
    pti_memory_layout box_layout = pti_memory_layout_of(of->box, element_bytes);
    pti_memory_layout layout = pti_memory_layout_of(&stored->around, element_bytes);
    pti_memory_span member = {stored->memory, &layout};
    pti_memory_span elements = {of->elements, &box_layout};
    pti_move move = {.box = common,
                     .element_bytes = element_bytes,
                     .to = of->puts ? member : elements,
                     .from = of->puts ? elements : member};
    pti_box_copy(&move, pti_host_default_threads());
}

/** Copy all boxes: one may lie in several that the rank owns. */
static void copy_all(const pti_open_array *open, const copy_request *of) {
    const pti_store *store = &open->spread.store;
    polytile_domain common;
    for (int k = 0; !is_nothing(of) && k < store->n_boxes; k++) {
        if (pti_box_intersect(&store->box[k].box, of->box, &common))
            copy_common_box(&store->box[k], store->element_bytes, of, &common);
    }
}

/** Find the boxes to copy. Errors: NO_MEMORY. */
static polytile_status find_boxes(const pti_open_array *open, const copy_request *of,
                                  pti_boxes *boxes) {
    if (!is_nothing(of))
        pti_boxes_append(boxes, of->box);
    if (!boxes->failed)
        return POLYTILE_OK;
    return pti_fail_memory(pti_spread_context(&open->spread), open->array->name,
                           sizeof *boxes->box);
}

/** Prepare a copy on this rank, before any rank copies. */
static polytile_status prepare_copy(pti_open_array *open, const copy_request *of,
                                    pti_boxes *boxes) {
    polytile_status status;
    PTI_TRY(check_copied_boxes(open, of));
    PTI_TRY(find_boxes(open, of, boxes));
    PTI_TRY(pti_array_bring(open, boxes));
done:
    return status;
}

static polytile_status copy_box(polytile_array *array, const char *call, const copy_request *of) {
    pti_array_use use = of->puts ? PTI_ARRAY_REPLACES_SOME : PTI_ARRAY_READS_SOME;
    pti_open_array open;
    pti_boxes boxes = {0};
    polytile_status status;
    bool has_begun = false;
    char words[256];
    if (array == NULL)
        return pti_fail(NULL, POLYTILE_INVALID, "%s: the array is NULL", call);
    snprintf(words, sizeof words, "%s() of %.128s", call, array->name);
    PTI_TRY(pti_array_open(array, use, words, &open));
    PTI_TRY(pti_spread_agree(&open.spread, prepare_copy(&open, of, &boxes)));
    has_begun = true;
    copy_all(&open, of);
done:
    status = pti_array_close(&open, status, has_begun, &boxes);
    pti_boxes_free(&boxes);
    return status;
}

/** The elements are only read. */
polytile_status polytile_mpi_array_put(polytile_array *array, const polytile_domain *box,
                                       const void *elements) {
    copy_request of = {.box = box, .elements = (void *)(uintptr_t)elements, .puts = true};
    return copy_box(array, "polytile_mpi_array_put", &of);
}

polytile_status polytile_mpi_array_get(polytile_array *array, const polytile_domain *box,
                                       void *elements) {
    copy_request of = {.box = box, .elements = elements, .puts = false};
    return copy_box(array, "polytile_mpi_array_get", &of);
}
