#include "access/footprint/narrow.h"

#include "access/array/array.h"
#include "access/footprint/indirection.h"
#include "access/footprint/section.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

/** Copy sections, whose subscripts stay; whether one may be empty depends on the threads. False: no
 * memory. */
static bool copy_sections(const pti_instance *whole, pti_instance *narrowed) {
    if (!PTI_RESIZE(narrowed->section, whole->n_sections + 1))
        return false;
    narrowed->n_sections = whole->n_sections;
    for (int s = 0; s < whole->n_sections; s++) {
        narrowed->section[s] = whole->section[s];
        narrowed->section[s].may_be_empty =
            pti_section_may_be_empty(&whole->section[s], &narrowed->threads);
    }
    for (int p = 0; p < whole->n_operands; p++) {
        narrowed->operand[p].first_section = whole->operand[p].first_section;
        narrowed->operand[p].n_sections = whole->operand[p].n_sections;
    }
    return true;
}

/** Fill in what an operand of a narrowed instance has beside roles. */
static void narrow_operand(const pti_operand *operand, polytile_array *const *arrays, int o,
                           pti_operand *narrowed) {
    const bool has_array = arrays != NULL && !operand->is_scratch;
    narrowed->is_scratch = operand->is_scratch;
    narrowed->type = operand->type;
    narrowed->element_bytes = operand->element_bytes;
    narrowed->domain = has_array ? arrays[o]->domain : operand->domain;
    narrowed->whole = operand->whole;
    narrowed->same_array = has_array ? pti_first_with_array(arrays, o) : operand->same_array;
}

/** Narrow an instance over arrays with its own types, and domains that are inside its own; NULL:
 * its own. */
static polytile_status narrow_one(const polytile_kernel *kernel, const pti_instance *whole,
                                  const polytile_domain *threads, polytile_array *const *arrays,
                                  pti_instance **narrowed) {
    polytile_status status = POLYTILE_OK;
    pti_instance *made = *narrowed = pti_instance_allocate(kernel->declaration);
    if (made == NULL)
        return pti_fail_memory(kernel->object.context, whole->kernel_name, (double)sizeof *made);
    made->declaration_hash = whole->declaration_hash;
    made->is_team = whole->is_team;
    made->threads = *threads;
    made->asked = whole->asked;
    memcpy(made->parameter, whole->parameter, sizeof made->parameter);
    made->inspection = whole->inspection;
    pti_inspection_hold(made->inspection);
    for (int o = 0; o < made->n_operands; o++)
        narrow_operand(&whole->operand[o], arrays, o, &made->operand[o]);
    if (!copy_sections(whole, made))
        PTI_TRY(pti_fail_memory(kernel->object.context, whole->kernel_name,
                                (double)sizeof *made->section * whole->n_sections));
    PTI_TRY(pti_instance_fill_roles(kernel->object.context, made));
done:
    return status;
}

/** Narrow what the program gave, too. */
static polytile_status narrow_given(const polytile_kernel *kernel, const pti_given *whole,
                                    pti_instance *narrowed) {
    polytile_status status;
    const size_t maps_bytes = (size_t)narrowed->n_operands * sizeof *whole->map;
    pti_given *given = narrowed->given = calloc(1, sizeof *given);
    if (given != NULL)
        given->map = malloc(maps_bytes + 1);
    if (given == NULL || given->map == NULL)
        return pti_fail_memory(kernel->object.context, narrowed->kernel_name, (double)maps_bytes);
    memcpy(given->map, whole->map, maps_bytes);
    given->is_united = whole->is_united;
    PTI_TRY(narrow_one(kernel, whole->instance, &narrowed->threads, NULL, &given->instance));
done:
    return status;
}

polytile_status pti_instance_narrow(const polytile_kernel *kernel, const pti_instance *whole,
                                    const polytile_domain *threads, polytile_array *const *arrays,
                                    pti_instance **narrowed) {
    polytile_status status;
    PTI_TRY(narrow_one(kernel, whole, threads, arrays, narrowed));
    if (whole->given != NULL)
        PTI_TRY(narrow_given(kernel, whole->given, *narrowed));
done:
    if (status != POLYTILE_OK) {
        pti_instance_free(*narrowed);
        *narrowed = NULL;
    }
    return status;
}
