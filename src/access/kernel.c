#include "access/kernel.h"

#include "access/conflict.h"
#include "access/declare/parameter.h"
#include "access/declare/parse.h"
#include "access/isl/relations.h"
#include "base/plural.h"
#include <polytile/message_ring.h>

#include <stdlib.h>

static void kernel_free(polytile_kernel *kernel) {
    if (kernel == NULL)
        return;
    pti_relations_free(kernel->relations);
    pti_declaration_free(kernel->declaration);
    free(kernel->warned);
    free(kernel);
}

static void free_unused(polytile_kernel *kernel) {
    if (kernel->is_destroyed && kernel->n_users == 0)
        kernel_free(kernel);
}

static void destroy_kernel(pti_object *object) {
    polytile_kernel *kernel = (polytile_kernel *)object;
    kernel->is_destroyed = true;
    free_unused(kernel);
}

void pti_kernel_retain(const polytile_kernel *kernel) {
    ((polytile_kernel *)kernel)->n_users++;
}

void pti_kernel_release(const polytile_kernel *kernel) {
    polytile_kernel *released = (polytile_kernel *)kernel;
    if (released == NULL)
        return;
    released->n_users--;
    free_unused(released);
}

static polytile_status check_count(polytile_context *ctx, const polytile_declaration *declaration,
                                   int n_taken, int n_declared, const char *what) {
    if (n_taken == n_declared)
        return POLYTILE_OK;
    return pti_fail(ctx, POLYTILE_DECLARATION,
                    "%s: the number of %s is %d in the declaration and %d in the kernel body; "
                    "declare what the body takes or give the body that was written for this "
                    "declaration",
                    declaration->name, what, n_declared, n_taken);
}

/** A body of a team kernel speaks to the library by memory whose layout both know. */
static polytile_status check_team(polytile_context *ctx, const polytile_declaration *declaration,
                                  const polytile_team *team) {
    if (team == NULL || team->layout == PT_RING_LAYOUT)
        return POLYTILE_OK;
    return pti_fail(ctx, POLYTILE_DECLARATION,
                    "%s: the body was compiled with message layout %lld, and the library has %d; "
                    "compile it with this library's polytile/message.h",
                    declaration->name, (long long)team->layout, (int)PT_RING_LAYOUT);
}

/** Compare an implementation's indices, views and parameters with the declaration. */
static polytile_status check_implementation(polytile_context *ctx,
                                            const polytile_declaration *declaration,
                                            const polytile_implementation *implementation) {
    polytile_status status = POLYTILE_OK;
    if (implementation->n_indices != 0)
        PTI_TRY(check_count(ctx, declaration, implementation->n_indices, declaration->n_indices,
                            "indices"));
    if (implementation->n_views != 0)
        PTI_TRY(check_count(ctx, declaration, implementation->n_views, declaration->n_arrays,
                            "arrays"));
    PTI_TRY(pti_parameters_check_body(ctx, declaration, implementation));
    PTI_TRY(check_team(ctx, declaration, implementation->team));
    PTI_TRY(pti_check_reserved(ctx, declaration->name, "polytile_implementation",
                               implementation->reserved));
done:
    return status;
}

/** Make a kernel of a declaration, which it takes also on failure. */
static polytile_status create_kernel(polytile_context *ctx, polytile_declaration *declaration,
                                     const polytile_implementation *implementation,
                                     polytile_kernel **kernel) {
    polytile_kernel *made = calloc(1, sizeof *made);
    polytile_status status = POLYTILE_OK;
    if (made == NULL) {
        pti_declaration_free(declaration);
        return pti_fail_memory(ctx, "kernel", sizeof *made);
    }
    made->object.context = ctx;
    made->declaration = declaration;
    for (int p = 0; p < declaration->n_parameters; p++)
        made->has_parameters_in_subscripts |= declaration->is_in_subscripts[p];
    made->conflict_class = PTI_CONFLICT_DEPENDS;
    if (implementation != NULL)
        made->implementation = *implementation;
    if (declaration->n_arrays == declaration->n_scratch)
        PTI_TRY(pti_fail(ctx, POLYTILE_DECLARATION, "%s: there is no section%s; add at least one",
                         declaration->name, declaration->n_scratch > 0 ? " but of scratch" : ""));
    PTI_TRY(check_implementation(ctx, declaration, &made->implementation));
    pti_parameters_number_values(made);
    PTI_TRY(pti_relations_find_sections(ctx, declaration));
    made->declaration_hash = pti_declaration_hash(declaration);
    PTI_TRY(pti_conflict_classify(made, &made->conflict_class));
    pti_object_adopt(ctx, &made->object, destroy_kernel);
done:
    if (status != POLYTILE_OK) {
        kernel_free(made);
        made = NULL;
    }
    *kernel = made;
    return status;
}

polytile_status polytile_kernel_create(polytile_context *ctx, const char *declaration,
                                       const polytile_implementation *implementation,
                                       polytile_kernel **kernel) {
    if (kernel != NULL)
        *kernel = NULL;
    PTI_ENTER(ctx, ctx, "context");
    if (declaration == NULL || kernel == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "kernel: the %s is NULL",
                        declaration == NULL ? "declaration" : "place for the result");
    polytile_declaration *parsed;
    polytile_status status = pti_declaration_parse(ctx, declaration, &parsed);
    if (status != POLYTILE_OK)
        return status;
    return create_kernel(ctx, parsed, implementation, kernel);
}

polytile_status polytile_kernel_create_from(const polytile_declaration *declaration,
                                            const polytile_implementation *implementation,
                                            polytile_kernel **kernel) {
    if (kernel != NULL)
        *kernel = NULL;
    PTI_ENTER(declaration, declaration->object.context, "declaration");
    polytile_context *ctx = declaration->object.context;
    if (kernel == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: the place for the result is NULL",
                        declaration->name);
    polytile_declaration *copy;
    polytile_status status = pti_declaration_copy(declaration, &copy);
    if (status != POLYTILE_OK)
        return status;
    return create_kernel(ctx, copy, implementation, kernel);
}

polytile_status pti_kernel_bind(polytile_kernel *kernel,
                                const polytile_implementation *implementation) {
    polytile_status status =
        check_implementation(kernel->object.context, kernel->declaration, implementation);
    if (status != POLYTILE_OK)
        return status;
    kernel->implementation = *implementation;
    pti_parameters_number_values(kernel);
    return POLYTILE_OK;
}

void polytile_kernel_destroy(polytile_kernel *kernel) {
    if (kernel != NULL)
        pti_object_release(&kernel->object);
}

polytile_status pti_kernel_check_launch(polytile_context *ctx, const char *where,
                                        const polytile_kernel *kernel,
                                        const polytile_domain *domain) {
    if (kernel == NULL)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: the kernel is NULL; give one that polytile_kernel_create() made",
                        where);
    if (domain == NULL)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: the launch domain is NULL; give the threads' indices, such as "
                        "POLYTILE_EXTENTS(n)",
                        kernel->declaration->name);
    return POLYTILE_OK;
}

polytile_status pti_kernel_check_arrays(polytile_context *ctx, const polytile_kernel *kernel,
                                        int n_arrays, polytile_array *const *arrays) {
    const polytile_declaration *declaration = kernel->declaration;
    int n_declared = polytile_kernel_get_n_arrays(kernel);
    const char *first = polytile_kernel_get_array_name(kernel, 0),
               *last = polytile_kernel_get_array_name(kernel, n_declared - 1);
    if (arrays == NULL)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: the list of arrays is NULL; give the kernel's %d, from %s to %s, in "
                        "the declaration's order",
                        declaration->name, n_declared, first, last);
    if (n_arrays != n_declared)
        return pti_fail(
            ctx, POLYTILE_INVALID,
            "%s: %d %s given and the kernel has %d, from %s to %s; give one of each, in "
            "the declaration's order",
            declaration->name, n_arrays, pti_plural(n_arrays, "array is", "arrays are"), n_declared,
            first, last);
    return POLYTILE_OK;
}

void pti_kernel_list_operands(const polytile_kernel *kernel, polytile_array *const *arrays,
                              polytile_array **operands) {
    const polytile_declaration *declaration = kernel->declaration;
    for (int o = 0; o < declaration->n_arrays; o++)
        operands[o] = declaration->is_scratch[o] ? NULL : *arrays++;
}

static bool is_level(polytile_level level) {
    return (unsigned)level <= POLYTILE_LEVEL_HIGH;
}

polytile_status polytile_kernel_characterise(polytile_kernel *kernel,
                                             const polytile_character *character) {
    PTI_ENTER(kernel, kernel->object.context, "kernel");
    polytile_context *ctx = kernel->object.context;
    const char *name = kernel->declaration->name;
    polytile_status status;
    if (character == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: the character is NULL", name);
    const struct {
        const char *member;
        int value;
        bool is_known;
    } members[] = {
        {"coalescing", (int)character->coalescing,
         (unsigned)character->coalescing <= POLYTILE_COALESCING_SCATTER},
        {"arithmetic", (int)character->arithmetic, is_level(character->arithmetic)},
        {"evictions", (int)character->evictions, is_level(character->evictions)},
        {"reuse", (int)character->reuse, is_level(character->reuse)},
    };
    for (size_t k = 0; k < sizeof members / sizeof *members; k++) {
        if (!members[k].is_known)
            return pti_fail(ctx, POLYTILE_INVALID,
                            "%s: the character's %s is %d, which is none of its enumeration", name,
                            members[k].member, members[k].value);
    }
    PTI_TRY(pti_check_reserved(ctx, name, "polytile_character", character->reserved));
    kernel->character = *character;
done:
    return status;
}

const char *polytile_kernel_get_name(const polytile_kernel *kernel) {
    return kernel == NULL ? "" : kernel->declaration->name;
}

int polytile_kernel_get_n_indices(const polytile_kernel *kernel) {
    return kernel == NULL ? 0 : kernel->declaration->n_indices;
}

bool pti_takes_pieces(const polytile_implementation *implementation) {
    return implementation->host_launcher == NULL && implementation->cuda_launcher == NULL &&
           implementation->team == NULL &&
           (implementation->host == NULL || implementation->host_takes_pieces) &&
           (implementation->cuda == NULL || implementation->cuda_pieces != NULL);
}

bool pti_may_run_concurrently(const polytile_implementation *implementation) {
    return implementation->cuda_launcher == NULL || implementation->cuda_launcher_overlaps;
}

bool pti_runs_in_lanes(const polytile_implementation *implementation) {
    const bool is_nothing = implementation->host == NULL && implementation->cuda == NULL &&
                            implementation->host_launcher == NULL &&
                            implementation->cuda_launcher == NULL &&
                            implementation->specialise == NULL && implementation->team == NULL;
    return is_nothing ||
           (implementation->team == NULL && pti_may_run_concurrently(implementation) &&
            (implementation->cuda_launcher != NULL || implementation->cuda_lanes > 1));
}

int polytile_kernel_get_n_arrays(const polytile_kernel *kernel) {
    return kernel == NULL ? 0 : kernel->declaration->n_arrays - kernel->declaration->n_scratch;
}

/** Return the position of a launch's array among all with scratch, or -1. */
static int find_operand(const polytile_kernel *kernel, int array) {
    bool is_there = array >= 0 && array < polytile_kernel_get_n_arrays(kernel);
    int operand = 0;
    for (int before = array; is_there && (kernel->declaration->is_scratch[operand] || before > 0);
         operand++)
        before -= !kernel->declaration->is_scratch[operand];
    return is_there ? operand : -1;
}

const char *polytile_kernel_get_array_name(const polytile_kernel *kernel, int array) {
    const int operand = find_operand(kernel, array);
    return operand < 0 ? NULL : kernel->declaration->array_name[operand];
}

/** Return the role of elements that are used in two ways. */
static polytile_role join_roles(polytile_role one, polytile_role other) {
    if (one == other || pti_role_reduces(one))
        return one;
    return pti_role_reduces(other) ? other : POLYTILE_INOUT;
}

polytile_role polytile_kernel_get_array_role(const polytile_kernel *kernel, int array) {
    const int operand = find_operand(kernel, array);
    polytile_role role = POLYTILE_IN;
    bool is_first = true;
    for (int k = 0; operand >= 0 && k < kernel->declaration->n_accesses; k++) {
        const pti_access *access = &kernel->declaration->access[k];
        if (access->array != operand)
            continue;
        role = is_first ? access->role : join_roles(role, access->role);
        is_first = false;
    }
    return role;
}

int polytile_kernel_get_n_views(const polytile_kernel *kernel) {
    return kernel == NULL ? 0 : kernel->declaration->n_arrays;
}

const char *polytile_kernel_get_view_name(const polytile_kernel *kernel, int view) {
    bool is_there = view >= 0 && view < polytile_kernel_get_n_views(kernel);
    return is_there ? kernel->declaration->array_name[view] : NULL;
}

int polytile_kernel_get_n_parameters(const polytile_kernel *kernel) {
    return kernel == NULL ? 0 : kernel->declaration->n_parameters;
}

const char *polytile_kernel_get_parameter_name(const polytile_kernel *kernel, int parameter) {
    bool is_there = parameter >= 0 && parameter < polytile_kernel_get_n_parameters(kernel);
    return is_there ? kernel->declaration->parameter_name[parameter] : NULL;
}

polytile_type polytile_kernel_get_parameter_type(const polytile_kernel *kernel, int parameter) {
    bool is_there = parameter >= 0 && parameter < polytile_kernel_get_n_parameters(kernel);
    return is_there ? kernel->declaration->parameter_type[parameter] : POLYTILE_BYTES(0);
}
