#include "partition/window/launches.h"

#include "access/array/array.h"
#include "access/bind/rebase.h"
#include "access/footprint/fold.h"
#include "access/footprint/indirection.h"
#include "access/footprint/slabs.h"
#include "access/kernel.h"
#include "base/list.h"
#include "partition/memory/residency.h"
#include "partition/window/plan.h"

#include <stdlib.h>
#include <string.h>

/** An array of the launches, or scratch of one kind of them. */
typedef struct known_array {
    const polytile_array *array; /* NULL: scratch */
    const pti_operand *operand;  /* that was the first to be it; of a kind's instance */
} known_array;

/** What is gathered while launches are filled in. */
typedef struct binder {
    const pti_chain_request *request;
    pti_launches *launches;
    const polytile_chain_launch **first_of; /* of each kind: the launch it was found in; owned */
    known_array *array;                     /* as they are found; owned */
    int n_arrays;
} binder;

static const char *name_of_launch(const polytile_chain_launch *launch) {
    return polytile_kernel_get_name(launch->kernel);
}

/* What is asked for. */

static polytile_status check_chain_launch(const pti_chain_request *request, int l) {
    const polytile_chain_launch *launch = &request->launch[l];
    if (launch->kernel == NULL)
        return pti_fail(request->ctx, POLYTILE_INVALID, "launch %d of %d has no kernel", l + 1,
                        request->n_launches);
    if (launch->kernel->object.context != request->ctx)
        return pti_fail(request->ctx, POLYTILE_INVALID,
                        "%s: launches that are planned together are of one context; create the "
                        "kernels in one",
                        name_of_launch(launch));
    for (int a = 0; launch->arrays != NULL && a < launch->n_arrays; a++)
        if (launch->arrays[a] != NULL && launch->arrays[a]->object.context != request->ctx)
            return pti_fail(request->ctx, POLYTILE_INVALID,
                            "%s: array %s is of another context; create it in the kernel's",
                            name_of_launch(launch), polytile_array_get_name(launch->arrays[a]));
    return pti_check_reserved(request->ctx, name_of_launch(launch), "polytile_chain_launch",
                              launch->reserved);
}

static polytile_status check_scratch(const pti_chain_request *request) {
    if (request->n_scratch < 0)
        return pti_fail(request->ctx, POLYTILE_INVALID, "%s: %d scratch arrays; give 0 or more",
                        name_of_launch(&request->launch[0]), request->n_scratch);
    for (int s = 0; s < request->n_scratch; s++)
        if (request->scratch == NULL || request->scratch[s] == NULL)
            return pti_fail(request->ctx, POLYTILE_INVALID, "%s: scratch array %d of %d is NULL",
                            name_of_launch(&request->launch[0]), s, request->n_scratch);
    return POLYTILE_OK;
}

static polytile_status check_request(const pti_chain_request *request) {
    polytile_status status;
    for (int l = 0; l < request->n_launches; l++)
        PTI_TRY(check_chain_launch(request, l));
    PTI_TRY(check_scratch(request));
done:
    return status;
}

polytile_status pti_chain_request_complete(const char *caller, pti_chain_request *request) {
    static const polytile_plan_options no_options = {0};
    request->options = request->options == NULL ? &no_options : request->options;
    for (int l = 0; request->launch != NULL && l < request->n_launches; l++) {
        if (request->launch[l].kernel != NULL) {
            request->ctx = request->launch[l].kernel->object.context;
            pti_clear_error(request->ctx);
            return POLYTILE_OK;
        }
    }
    return pti_fail(NULL, POLYTILE_INVALID, "%s: there are no launches with a kernel", caller);
}

/* Kinds. */

/** Return whether some section needs a parameter. */
static bool is_needed(const polytile_kernel *kernel, const char *name) {
    const polytile_declaration *declaration = kernel->declaration;
    int p = pti_find_name(name, declaration->n_parameters, declaration->parameter_name);
    return p < 0 || declaration->is_in_subscripts[p];
}

/** Return whether the same values are given under the same names in the same order, those of
 * parameters aside that no section needs. */
static bool same_parameters(const polytile_chain_launch *one, const polytile_chain_launch *other) {
    const polytile_parameter *a = one->parameters, *b = other->parameters;
    bool is_same = one->n_parameters == other->n_parameters && (a == NULL) == (b == NULL);
    for (int p = 0; is_same && a != NULL && p < one->n_parameters; p++)
        is_same = a[p].name != NULL && b[p].name != NULL && strcmp(a[p].name, b[p].name) == 0 &&
                  (a[p].value == b[p].value || !is_needed(one->kernel, a[p].name)) &&
                  (a[p].real == b[p].real || !is_needed(one->kernel, a[p].name)) &&
                  a[p].number == b[p].number;
    return is_same;
}

static bool same_launch(const polytile_chain_launch *one, const polytile_chain_launch *other) {
    bool is_same = one->kernel == other->kernel && one->arrays != NULL && other->arrays != NULL &&
                   one->n_arrays == other->n_arrays &&
                   pti_box_compare(&one->domain, &other->domain) == 0 &&
                   same_parameters(one, other);
    for (int a = 0; is_same && a < one->n_arrays; a++)
        is_same = one->arrays[a] == other->arrays[a];
    return is_same;
}

/** The kind of a launch; as many as there are if it is of none. */
static int find_launch_kind(const binder *of, const polytile_chain_launch *launch) {
    int kind = 0;
    while (kind < of->launches->n_kinds && !same_launch(of->first_of[kind], launch))
        kind++;
    return kind;
}

/** Its position among the arrays, which it joins; scratch always does. */
static int join_arrays(binder *of, const polytile_array *array, const pti_operand *operand) {
    int position = array == NULL ? of->n_arrays : 0;
    while (position < of->n_arrays && of->array[position].array != array)
        position++;
    if (position == of->n_arrays)
        of->array[of->n_arrays++] = (known_array){array, operand};
    return position;
}

/** The array that has an array's elements; NULL: scratch. */
static polytile_array *root_of(const polytile_array *array) {
    return array == NULL ? NULL : (polytile_array *)(uintptr_t)pti_array_root(array);
}

static polytile_status find_arrays(binder *of, const polytile_chain_launch *launch,
                                   pti_launch_kind *kind) {
    int n_operands = kind->instance->n_operands;
    polytile_array *of_operand[PTI_MAX_OPERANDS];
    kind->array = calloc((size_t)n_operands + 1, sizeof *kind->array);
    if (kind->array == NULL || !PTI_RESIZE(of->array, (int64_t)of->n_arrays + n_operands + 1))
        return pti_fail_memory(of->request->ctx, name_of_launch(launch),
                               n_operands * (double)sizeof *of->array);
    pti_kernel_list_operands(launch->kernel, launch->arrays, of_operand);
    for (int o = 0; o < n_operands; o++)
        kind->array[o] = join_arrays(of, root_of(of_operand[o]), &kind->instance->operand[o]);
    return POLYTILE_OK;
}

/** Let views be what they are of, which other launches may have. */
static polytile_status rebase_kind(const binder *of, const polytile_chain_launch *launch,
                                   pti_launch_kind *kind) {
    polytile_array *given[PTI_MAX_OPERANDS], *planned[PTI_MAX_OPERANDS];
    pti_kernel_list_operands(launch->kernel, launch->arrays, given);
    for (int o = 0; o < kind->instance->n_operands; o++)
        planned[o] = root_of(given[o]);
    return pti_instance_rebase(of->request->ctx, given, planned, &kind->instance);
}

static polytile_status bind_kind(binder *of, const polytile_chain_launch *launch) {
    pti_launches *launches = of->launches;
    pti_launch_kind *kind = &launches->of_kind[launches->n_kinds];
    polytile_launch_options options = {.n_parameters = launch->n_parameters,
                                       .parameters = launch->parameters,
                                       .plan = *of->request->options};
    polytile_status status;
    PTI_TRY(pti_plan_bind(launch->kernel, &launch->domain, launch->n_arrays, launch->arrays,
                          &options, &kind->instance));
    of->first_of[launches->n_kinds++] = launch;
    PTI_TRY(rebase_kind(of, launch, kind));
    PTI_TRY(find_arrays(of, launch, kind));
    kind->instance->piece_alignment_bytes = PTI_RESIDENT_ALIGNMENT;
    PTI_TRY(pti_instance_add_slabs(of->request->ctx, kind->instance));
    PTI_TRY(pti_instance_add_bands(of->request->ctx, kind->instance));
    kind->ways = pti_ways_of((pti_call){kind->instance, kind->array},
                             pti_takes_pieces(&launch->kernel->implementation));
    if (kind->ways.may_split)
        PTI_TRY(pti_instance_add_fold(of->request->ctx, kind->instance));
done:
    return status;
}

static polytile_status bind_launches(binder *of) {
    polytile_status status = POLYTILE_OK;
    pti_launches *launches = of->launches;
    for (int l = 0; l < launches->n_launches; l++) {
        const polytile_chain_launch *launch = &of->request->launch[l];
        int kind = find_launch_kind(of, launch);
        if (kind == launches->n_kinds && (status = bind_kind(of, launch)) != POLYTILE_OK) {
            pti_place_error(of->request->ctx, l, launches->n_launches);
            return status;
        }
        launches->kind[l] = kind;
        launches->cut[l] = (pti_cut_launch){
            .call = {launches->of_kind[kind].instance, launches->of_kind[kind].array}};
    }
    return status;
}

/** Return whether a launch looks an operand up. */
static bool looks_operand_up(const pti_instance *instance, int operand) {
    return instance->inspection != NULL && operand < instance->inspection->n_operands &&
           instance->inspection->array[operand] != NULL;
}

/** Plans hold for what index arrays held when they were made. written: of each array, so far. */
static polytile_status check_index_arrays(const binder *of, const pti_call *call,
                                          const bool *written) {
    const pti_instance *instance = call->instance;
    for (int o = 0; o < instance->n_operands; o++)
        if (looks_operand_up(instance, o) && written[call->array[o]])
            return pti_fail(of->request->ctx, POLYTILE_UNSUPPORTED,
                            "%s: its subscripts hold elements of %s, which an earlier launch "
                            "writes, so that nobody knows them yet; plan launches after that by "
                            "themselves, or use a queue",
                            instance->kernel_name, instance->operand[o].name);
    return POLYTILE_OK;
}

static polytile_status check_looked_up(const binder *of) {
    const pti_launches *launches = of->launches;
    polytile_status status = POLYTILE_OK;
    bool *written = calloc((size_t)of->n_arrays + 1, sizeof *written);
    if (written == NULL)
        return pti_fail_memory(of->request->ctx, "launches", (double)of->n_arrays);
    for (int l = 0; l < launches->n_launches; l++) {
        const pti_call *call = &launches->cut[l].call;
        PTI_TRY(check_index_arrays(of, call, written));
        for (int o = 0; o < call->instance->n_operands; o++)
            written[call->array[o]] |= call->instance->operand[o].writes;
    }
done:
    free(written);
    return status;
}

/* The arrays. */

static int find_main_kind(const pti_launches *launches) {
    int main_kind = 0;
    for (int k = 1; k < launches->n_kinds; k++)
        if (pti_box_count(&launches->of_kind[k].instance->threads) >
            pti_box_count(&launches->of_kind[main_kind].instance->threads))
            main_kind = k;
    return main_kind;
}

/** False when memory runs out. */
static bool copy_head(const pti_instance *from, pti_instance *to) {
    bool is_copied = (to->kernel_name = strdup(from->kernel_name)) != NULL;
    to->n_indices = from->n_indices;
    to->threads = from->threads;
    to->asked = from->asked;
    for (int k = 0; k < from->n_indices; k++)
        is_copied = (to->index_name[k] = strdup(from->index_name[k])) != NULL && is_copied;
    return is_copied;
}

static bool copy_array(const known_array *known, pti_operand *to) {
    const pti_operand *from = known->operand;
    *to = (pti_operand){.name = strdup(known->array == NULL ? from->name : known->array->name),
                        .type = from->type,
                        .element_bytes = from->element_bytes,
                        .domain = from->domain,
                        .is_scratch = from->is_scratch};
    return to->name != NULL;
}

static bool is_scratch(const pti_chain_request *request, const polytile_array *array) {
    int s = 0;
    while (s < request->n_scratch && request->scratch[s] != array)
        s++;
    return s < request->n_scratch;
}

/** Note which arrays launches look up. */
static void note_index_arrays(const binder *of) {
    const pti_launches *launches = of->launches;
    for (int k = 0; k < launches->n_kinds; k++) {
        const pti_launch_kind *kind = &launches->of_kind[k];
        for (int o = 0; o < kind->instance->n_operands; o++)
            if (looks_operand_up(kind->instance, o))
                launches->index_array[kind->array[o]] =
                    (polytile_array *)(uintptr_t)of->array[kind->array[o]].array;
    }
}

/** Describe the arrays of all launches; false when memory runs out. */
static bool describe_bound_arrays(const binder *of) {
    pti_launches *launches = of->launches;
    size_t n_arrays = (size_t)of->n_arrays;
    pti_instance *arrays = launches->arrays = calloc(1, sizeof *arrays);
    launches->is_scratch = calloc(n_arrays + 1, sizeof *launches->is_scratch);
    launches->index_array = calloc(n_arrays + 1, sizeof(polytile_array *));
    if (arrays == NULL || launches->is_scratch == NULL || launches->index_array == NULL)
        return false;
    note_index_arrays(of);
    arrays->operand = calloc(n_arrays + 1, sizeof *arrays->operand);
    bool is_filled = arrays->operand != NULL &&
                     copy_head(launches->of_kind[launches->main_kind].instance, arrays);
    for (int a = 0; a < of->n_arrays && is_filled; a++) {
        is_filled = copy_array(&of->array[a], &arrays->operand[a]);
        launches->is_scratch[a] =
            of->array[a].array == NULL || is_scratch(of->request, of->array[a].array);
        arrays->n_operands++;
    }
    return is_filled;
}

/** False when memory runs out. */
static bool allocate_launches(binder *of) {
    pti_launches *launches = of->launches;
    size_t n_launches = (size_t)of->request->n_launches;
    launches->n_launches = of->request->n_launches;
    launches->kind = calloc(n_launches, sizeof *launches->kind);
    launches->cut = calloc(n_launches, sizeof *launches->cut);
    launches->of_kind = calloc(n_launches, sizeof *launches->of_kind);
    of->first_of = calloc(n_launches, sizeof *of->first_of);
    return launches->kind != NULL && launches->cut != NULL && launches->of_kind != NULL &&
           of->first_of != NULL;
}

polytile_status pti_launches_bind(const pti_chain_request *request, pti_launches *launches) {
    binder of = {.request = request, .launches = launches};
    double n_bytes = (double)request->n_launches * (double)sizeof(pti_launch_kind);
    polytile_status status;
    *launches = (pti_launches){0};
    PTI_TRY(check_request(request));
    PTI_TRY(allocate_launches(&of) ? POLYTILE_OK
                                   : pti_fail_memory(request->ctx, "launches", n_bytes));
    PTI_TRY(bind_launches(&of));
    PTI_TRY(check_looked_up(&of));
    launches->main_kind = find_main_kind(launches);
    PTI_TRY(describe_bound_arrays(&of) ? POLYTILE_OK
                                       : pti_fail_memory(request->ctx, "launches", n_bytes));
done:
    free(of.first_of);
    free(of.array);
    return status;
}

void pti_launches_free(pti_launches *launches) {
    for (int k = 0; launches->of_kind != NULL && k < launches->n_kinds; k++) {
        pti_ways_free(&launches->of_kind[k].ways);
        pti_instance_free(launches->of_kind[k].instance);
        pti_partition_free(&launches->of_kind[k].partition);
        free(launches->of_kind[k].array);
    }
    pti_instance_free(launches->arrays);
    free(launches->is_scratch);
    free(launches->index_array);
    free(launches->kind);
    free(launches->cut);
    free(launches->of_kind);
    *launches = (pti_launches){0};
}
