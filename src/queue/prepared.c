#include "queue/prepared.h"

#include "access/array/array.h"
#include "access/bind/rebase.h"
#include "base/mix.h"

#include <stdlib.h>
#include <string.h>

static uint64_t mix_domain(uint64_t hash, const polytile_domain *domain) {
    for (int d = 0; d < domain->n_dims && d < POLYTILE_MAX_DIMS; d++)
        hash = pti_mix(pti_mix(hash, domain->range[d].lo), domain->range[d].hi);
    return hash;
}

static uint64_t mix_options(uint64_t hash, const pti_request *request) {
    const polytile_plan_options *options = &request->options->plan;
    int n_indices = polytile_kernel_get_n_indices(request->kernel);
    for (int d = 0; options->block != NULL && d < n_indices; d++)
        hash = pti_mix(hash, options->block[d]);
    const bool has_any = request->kernel->has_parameters_in_subscripts;
    for (int p = 0; has_any && p < polytile_kernel_get_n_parameters(request->kernel); p++)
        hash = pti_mix(hash, request->parameter[p]);
    hash = pti_mix(pti_mix(hash, options->n_buffers), options->launches_per_pass);
    return pti_mix(pti_mix(hash, options->n_streams), options->fill_threads);
}

/** The number of an array; 0: scratch. */
static int64_t serial_of(const polytile_array *array) {
    return array == NULL ? 0 : array->known_as;
}

uint64_t pti_request_hash(const pti_request *request) {
    uint64_t hash = pti_mix(0, request->kernel->object.serial);
    for (int a = 0; a < request->kernel->declaration->n_arrays; a++)
        hash = pti_mix(hash, serial_of(pti_request_given(request, a)));
    return mix_options(mix_domain(hash, request->domain), request);
}

/** Return whether a request has the same arrays. If it is one box of a launch, the whole launch has
 * to agree, too: its arrays are a member's. */
static bool same_arrays(const pti_prepared *prepared, const pti_request *request) {
    for (int a = 0; a < prepared->n_arrays; a++) {
        if (serial_of(pti_request_given(request, a)) != prepared->array_serial[a])
            return false;
    }
    return request->whole == NULL || pti_instance_is_given_as(prepared->instance, request->whole);
}

static bool same_text(const char *one, const char *other) {
    return one == other || (one != NULL && other != NULL && strcmp(one, other) == 0);
}

/** Return whether both are NULL or hold the same bytes. */
static bool same_bytes(const void *one, const void *other, size_t n_bytes) {
    return one == other || (one != NULL && other != NULL && memcmp(one, other, n_bytes) == 0);
}

static bool same_options(const polytile_plan_options *one, const polytile_plan_options *other,
                         int n_indices) {
    return one->limit_bytes == other->limit_bytes && one->n_buffers == other->n_buffers &&
           one->launches_per_pass == other->launches_per_pass &&
           one->n_streams == other->n_streams && one->fill_threads == other->fill_threads &&
           same_text(one->strategy, other->strategy) &&
           same_bytes(one->block, other->block, (size_t)n_indices * sizeof *one->block) &&
           same_bytes(one->link, other->link, sizeof *one->link);
}

bool pti_prepared_is_for(const pti_prepared *prepared, const pti_request *request) {
    const polytile_kernel *kernel = request->kernel;
    return prepared->kernel_serial == kernel->object.serial && same_arrays(prepared, request) &&
           pti_box_compare(&prepared->domain, request->domain) == 0 &&
           same_bytes(&prepared->character, &kernel->character, sizeof kernel->character) &&
           (!kernel->has_parameters_in_subscripts ||
            memcmp(prepared->instance->parameter, request->parameter,
                   sizeof prepared->instance->parameter) == 0) &&
           same_options(&prepared->options, &request->options->plan, prepared->domain.n_dims);
}

static void *duplicate_bytes(const void *of, size_t n_bytes) {
    void *made = malloc(n_bytes > 0 ? n_bytes : 1);
    if (made != NULL && n_bytes > 0)
        memcpy(made, of, n_bytes);
    return made;
}

/** False when memory runs out. */
static bool copy_options(polytile_plan_options *to, const polytile_plan_options *from,
                         int n_indices) {
    *to = (polytile_plan_options){.n_buffers = from->n_buffers,
                                  .launches_per_pass = from->launches_per_pass,
                                  .n_streams = from->n_streams,
                                  .fill_threads = from->fill_threads};
    if (from->strategy != NULL)
        to->strategy = strdup(from->strategy);
    if (from->block != NULL)
        to->block = duplicate_bytes(from->block, (size_t)n_indices * sizeof *from->block);
    if (from->link != NULL)
        to->link = duplicate_bytes(from->link, sizeof *from->link);
    return (from->strategy == NULL || to->strategy != NULL) &&
           (from->block == NULL || to->block != NULL) && (from->link == NULL || to->link != NULL);
}

bool pti_prepared_fill_key(pti_prepared *prepared, const pti_request *request) {
    const polytile_kernel *kernel = request->kernel;
    int n_arrays = kernel->declaration->n_arrays;
    prepared->hash = pti_request_hash(request);
    prepared->kernel_serial = kernel->object.serial;
    prepared->character = kernel->character;
    prepared->domain = *request->domain;
    prepared->n_arrays = n_arrays;
    prepared->array_serial = calloc((size_t)n_arrays, sizeof *prepared->array_serial);
    prepared->position = calloc((size_t)n_arrays, sizeof *prepared->position);
    if (prepared->array_serial == NULL || prepared->position == NULL)
        return false;
    for (int a = 0; a < n_arrays; a++) {
        prepared->array_serial[a] = serial_of(pti_request_given(request, a));
        prepared->position[a] = request->arrays[a] == NULL ? -1 : request->arrays[a]->position;
    }
    return copy_options(&prepared->options, &request->options->plan, prepared->domain.n_dims);
}

static void free_options(const polytile_plan_options *options) {
    free((void *)options->strategy);
    free((void *)options->block);
    free((void *)options->link);
}

static bool are_operands_alike(const pti_operand *one, const pti_operand *other) {
    return one->type == other->type && one->element_bytes == other->element_bytes &&
           one->same_array == other->same_array &&
           pti_box_compare(&one->domain, &other->domain) == 0 &&
           pti_box_compare(&one->whole, &other->whole) == 0;
}

/** Return whether launches of one kernel over as many threads differ only in their arrays. */
static bool are_instances_alike(const pti_instance *one, const pti_instance *other) {
    bool are = one->given == NULL && other->given == NULL && one->inspection == NULL &&
               other->inspection == NULL && one->n_operands == other->n_operands &&
               memcmp(one->parameter, other->parameter, sizeof one->parameter) == 0;
    for (int o = 0; are && o < one->n_operands; o++)
        are = are_operands_alike(&one->operand[o], &other->operand[o]);
    return are;
}

bool pti_prepared_is_twin(const pti_prepared *one, const pti_prepared *other) {
    return one->kernel_serial == other->kernel_serial &&
           pti_box_compare(&one->domain, &other->domain) == 0 &&
           same_bytes(&one->character, &other->character, sizeof one->character) &&
           same_options(&one->options, &other->options, one->domain.n_dims) &&
           are_instances_alike(one->instance, other->instance);
}

bool pti_prepared_uses(const pti_prepared *prepared, int position) {
    for (int a = 0; a < prepared->n_arrays; a++) {
        if (prepared->position[a] == position)
            return true;
    }
    return false;
}

void pti_prepared_free(pti_prepared *prepared) {
    if (prepared == NULL)
        return;
    pti_schedule_free(prepared->in_place);
    pti_partition_free(&prepared->partition);
    pti_ways_free(&prepared->ways);
    pti_instance_free(prepared->instance);
    free(prepared->touched);
    free(prepared->written);
    free(prepared->is_overwritten);
    free(prepared->array_serial);
    free(prepared->position);
    free_options(&prepared->options);
    free(prepared);
}
