#include "access/proof.h"

#include "access/declare/access_text.h"
#include "access/footprint/footprint.h"
#include "access/isl/point.h"
#include "access/isl/relations.h"

#include <isl/space.h>

/** The most boxes of a closed form before isl is asked. */
enum { MAX_BOXES = 64 };

/** The question: does a launch read elements of an array that were not written? */
typedef struct question {
    int n_launches;
    const pti_proved_launch *launch;
    const pti_blank_array *blank;
} question;

static const pti_proved_launch *last_of(const question *asked) {
    return &asked->launch[asked->n_launches - 1];
}

/* Add a footprint in closed form: too much is taken for read, too little for written. */

static void add_footprint(const pti_proved_launch *launch, int array, pti_touch touch,
                          pti_boxes *boxes) {
    pti_boxes own = {0};
    for (int p = 0; p < launch->call.instance->n_operands; p++) {
        if (launch->call.array[p] != array)
            continue;
        bool exact = pti_footprint_boxes(launch->call.instance, p, touch,
                                         &launch->call.instance->threads, MAX_BOXES, &own);
        if (!exact && touch != PTI_READS)
            pti_boxes_clear(&own);
        pti_boxes_unite(boxes, &own, pti_boxes_gather);
    }
    pti_boxes_free(&own);
}

static bool closed_form_proves(const question *asked) {
    pti_boxes read = {0};
    add_footprint(last_of(asked), asked->blank->array, PTI_READS, &read);
    pti_boxes_subtract_all(&read, &asked->blank->written);
    bool is_proved = read.n_boxes == 0 && !read.failed;
    pti_boxes_free(&read);
    return is_proved;
}

void pti_note_written(const pti_proved_launch *launch, pti_blank_array *blank) {
    add_footprint(launch, blank->array, PTI_WRITES, &blank->written);
}

/* By isl. */

/** Return an access as { [index] -> [element] }, without names, which differ between launches. */
static __isl_give isl_map *relation_of_access(isl_ctx *isl, const pti_proved_launch *launch,
                                              int access) {
    isl_map *map = pti_access_relation_in(isl, launch->kernel, access, launch->call.instance);
    map = isl_map_reset_tuple_id(map, isl_dim_in);
    return isl_map_reset_tuple_id(map, isl_dim_out);
}

static bool is_access_of(const pti_proved_launch *launch, int access, int array, pti_touch touch) {
    const pti_access *is = &launch->kernel->declaration->access[access];
    pti_section section = {.role = is->role, .fresh = is->fresh};
    return launch->call.array[is->array] == array && pti_section_counts(&section, touch);
}

/** Return { [element] : a launch before the last writes it }. */
static __isl_give isl_set *elements_written_before(isl_ctx *isl, const question *asked,
                                                   int n_dims) {
    isl_set *all = isl_set_empty(isl_space_set_alloc(isl, 0, (unsigned)n_dims));
    for (int l = 0; l < asked->n_launches - 1; l++)
        for (int a = 0; a < asked->launch[l].kernel->declaration->n_accesses; a++)
            if (is_access_of(&asked->launch[l], a, asked->blank->array, PTI_WRITES))
                all = isl_set_union(all,
                                    isl_map_range(relation_of_access(isl, &asked->launch[l], a)));
    return all;
}

static const char *verb_of(const pti_access *access) {
    return pti_role_reduces(access->role) ? "combines into" : "reads";
}

static const char *advice_for(const pti_access *access) {
    return pti_role_reduces(access->role)
               ? "start from the identity (\"out\" before the role), or write it in a launch before"
               : "write it in a launch before, or give the array contents at the start";
}

static polytile_status accuse_access(const question *asked, int access, polytile_witness *found) {
    const polytile_declaration *declaration = last_of(asked)->kernel->declaration;
    const pti_access *is = &declaration->access[access];
    pti_text text = {0};
    pti_instance_ask_thread(last_of(asked)->call.instance, found->thread);
    pti_text_add(&text, "%s: thread ", declaration->name);
    pti_point_write(&text, found->thread, found->n_indices);
    pti_text_add(&text, " %s %s", verb_of(is), asked->blank->name);
    pti_point_write(&text, found->element, found->n_dims);
    pti_text_add(&text, " (");
    pti_access_write_exactly(&text, declaration, is);
    pti_text_add(&text,
                 "), but %s has no contents at the start, and no launch before writes that "
                 "element; %s",
                 asked->blank->name, advice_for(is));
    return pti_fail_with_witness(last_of(asked)->kernel->object.context, POLYTILE_DECLARATION,
                                 &text, found);
}

static polytile_status fail_initialised_proof(const question *asked, isl_ctx *isl) {
    const polytile_kernel *kernel = last_of(asked)->kernel;
    return pti_isl_fail(kernel->object.context, isl, kernel->declaration->name,
                        "whether all that it reads of %s was written before is too involved to "
                        "prove; declare simpler sections",
                        asked->blank->name);
}

static polytile_status prove_access_initialised(const question *asked, isl_ctx *isl, int access) {
    const pti_proved_launch *launch = last_of(asked);
    const pti_access *is = &launch->kernel->declaration->access[access];
    polytile_witness found = {.kind = POLYTILE_WITNESS_UNINITIALISED,
                              .operand = is->array,
                              .n_indices = launch->call.instance->n_indices,
                              .n_dims = launch->call.instance->operand[is->array].domain.n_dims};
    polytile_status status = POLYTILE_OK;
    pti_isl_begin(isl);
    isl_set *written = elements_written_before(isl, asked, found.n_dims);
    isl_map *missing = isl_map_subtract_range(relation_of_access(isl, launch, access), written);
    isl_bool empty = isl_map_is_empty(missing);
    if (empty == isl_bool_error)
        status = fail_initialised_proof(asked, isl);
    else if (empty == isl_bool_false)
        status = pti_first_pair(isl_map_copy(missing), found.thread, found.element)
                     ? accuse_access(asked, access, &found)
                     : fail_initialised_proof(asked, isl);
    isl_map_free(missing);
    return status;
}

static polytile_status prove_by_isl(const question *asked) {
    const pti_proved_launch *launch = last_of(asked);
    polytile_status status = POLYTILE_OK;
    isl_ctx *isl = pti_isl_open();
    if (isl == NULL)
        return fail_initialised_proof(asked, NULL);
    for (int a = 0; a < launch->kernel->declaration->n_accesses; a++)
        if (is_access_of(launch, a, asked->blank->array, PTI_READS))
            PTI_TRY(prove_access_initialised(asked, isl, a));
done:
    pti_isl_close(isl);
    return status;
}

polytile_status pti_prove_initialised(int n_launches, const pti_proved_launch *launches,
                                      const pti_blank_array *blank) {
    question asked = {n_launches, launches, blank};
    return closed_form_proves(&asked) ? POLYTILE_OK : prove_by_isl(&asked);
}
