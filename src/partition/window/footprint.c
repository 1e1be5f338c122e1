#include "access/pieces/split.h"
#include "partition/window/plan.h"
#include <polytile/footprint.h>

#include <limits.h>
#include <stdlib.h>

/* Footprints as programs see them: what planners ask of one superblock. */

/** The most boxes a section. */
enum { MOST_BOXES = 1 << 16 };

/** What a launch touches of each array. */
struct polytile_footprint {
    pti_object object;
    int n_arrays;
    polytile_array_footprint *array; /* owned, as what it points to */
};

static void free_footprint(polytile_footprint *footprint) {
    for (int a = 0; footprint->array != NULL && a < footprint->n_arrays; a++) {
        free((void *)footprint->array[a].boxes);
        free((void *)footprint->array[a].pieces);
    }
    free(footprint->array);
    free(footprint);
}

static void destroy_footprint(pti_object *object) {
    free_footprint((polytile_footprint *)object);
}

void polytile_footprint_destroy(polytile_footprint *footprint) {
    if (footprint != NULL)
        pti_object_release(&footprint->object);
}

/** Find the hull and the boxes of what a launch touches of an operand. False when memory runs out.
 * */
static bool find_hull_and_boxes(const pti_instance *instance, int operand,
                                polytile_array_footprint *found) {
    pti_boxes boxes = {0};
    found->is_exact =
        pti_footprint_boxes(instance, operand, PTI_TOUCHES, &instance->threads, MOST_BOXES, &boxes);
    found->hull = pti_footprint_hull(instance, operand, PTI_TOUCHES, &instance->threads);
    found->boxes = boxes.box;
    found->n_boxes = boxes.n_boxes;
    return !boxes.failed;
}

/** List the boxes around an array's pieces that touch anything; of one that is touched nowhere
 * there is one that is empty. False when memory runs out. */
static bool find_pieces(const pti_instance *split, int array, polytile_array_footprint *found) {
    const int most = pti_instance_count_pieces(split, array);
    polytile_domain *pieces = calloc((size_t)most, sizeof *pieces);
    found->pieces = pieces;
    if (pieces == NULL)
        return false;
    pieces[0] = found->hull;
    for (int o = 0; o < split->n_operands; o++)
        if (pti_operand_array(split, o) == array &&
            pti_footprint_find_hull(split, o, PTI_TOUCHES, &split->threads,
                                    &pieces[found->n_pieces]))
            found->n_pieces++;
    if (found->n_pieces == 0)
        pieces[found->n_pieces++] = found->hull;
    return true;
}

/** Find everything; the pieces are those that are worth it for the threads. Errors: NO_MEMORY. */
static polytile_status fill_footprint(polytile_context *ctx, const pti_instance *instance,
                                      polytile_footprint *made) {
    pti_instance *split = NULL;
    bool is_found = true;
    polytile_status status;
    PTI_TRY(pti_instance_split(ctx, instance, &instance->threads, INT_MAX, &split));
    made->array = calloc((size_t)instance->n_operands, sizeof *made->array);
    made->n_arrays = made->array == NULL ? 0 : instance->n_operands;
    for (int a = 0; a < made->n_arrays && is_found; a++)
        is_found = find_hull_and_boxes(instance, a, &made->array[a]) &&
                   find_pieces(split == NULL ? instance : split, a, &made->array[a]);
    if (made->array == NULL || !is_found)
        status = pti_fail_memory(ctx, instance->kernel_name, PTI_UNKNOWN_BYTES);
done:
    pti_instance_free(split);
    return status;
}

polytile_status polytile_footprint_create(const polytile_kernel *kernel,
                                          const polytile_domain *threads, int n_arrays,
                                          polytile_array *const *arrays,
                                          const polytile_launch_options *options,
                                          polytile_footprint **footprint) {
    if (footprint != NULL)
        *footprint = NULL;
    PTI_ENTER(kernel, kernel->object.context, "kernel");
    polytile_context *ctx = kernel->object.context;
    pti_instance *instance = NULL;
    polytile_footprint *made = NULL;
    polytile_status status;
    if (footprint == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: the place for the footprint is NULL",
                        polytile_kernel_get_name(kernel));
    PTI_TRY(pti_plan_bind(kernel, threads, n_arrays, arrays, options, &instance));
    made = calloc(1, sizeof *made);
    PTI_TRY(made != NULL ? POLYTILE_OK : pti_fail_memory(ctx, "footprint", sizeof *made));
    PTI_TRY(fill_footprint(ctx, instance, made));
    pti_object_adopt(ctx, &made->object, destroy_footprint);
    *footprint = made;
done:
    if (status != POLYTILE_OK && made != NULL)
        free_footprint(made);
    pti_instance_free(instance);
    return status;
}

const polytile_array_footprint *polytile_footprint_get_array(const polytile_footprint *footprint,
                                                             int array) {
    bool is_there = footprint != NULL && array >= 0 && array < footprint->n_arrays;
    return is_there ? &footprint->array[array] : NULL;
}
