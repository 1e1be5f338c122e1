#include "launch/execute/specialise.h"

#include "access/array/type.h"
#include "access/kernel.h"
#include "partition/cost/demand.h"

static void add_types(const pti_instance *instance, pti_text *text) {
    char type[PTI_TYPE_TEXT_BYTES];
    for (int o = 0; o < pti_instance_n_arrays(instance); o++)
        pti_text_add(text, "%s%s of %s", o == 0 ? "" : ", ", instance->operand[o].name,
                     pti_type_format(instance->operand[o].type, type));
}

/** Say what was wanted in front of what a specialiser says, or for it if it says nothing. */
static polytile_status refuse_kernel(const polytile_device *device, const pti_instance *instance,
                                     polytile_status status) {
    polytile_context *ctx = device->object.context;
    pti_text types = {0};
    if (*polytile_last_error(ctx) != '\0')
        return status;
    add_types(instance, &types);
    pti_fail(ctx, status, "%s: there is no body for %s on %s (%s)", instance->kernel_name,
             types.data == NULL ? "these arrays" : types.data, device->text,
             polytile_status_text(status));
    pti_text_free(&types);
    return status;
}

/** Launches were planned for what takes pieces and steps, and no launcher. */
static bool may_be_found(const polytile_device *device, const polytile_implementation *found) {
    const char *wanted;
    return found != NULL && found->specialise == NULL && found->team == NULL &&
           found->host_launcher == NULL && found->cuda_launcher == NULL && found->takes_steps &&
           pti_takes_pieces(found) && device->functions->can_run(found, &wanted);
}

static polytile_status check_found(const polytile_device *device, const pti_instance *instance,
                                   const polytile_kernel *kernel,
                                   const polytile_implementation *found) {
    polytile_context *ctx = device->object.context;
    const char *name = instance->kernel_name;
    if (!may_be_found(device, found))
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: its specialiser found nothing that runs on %s, takes pieces and takes "
                        "steps; let it find what POLYTILE_KERNEL() makes",
                        name, device->text);
    if ((found->n_indices != 0 && found->n_indices != kernel->declaration->n_indices) ||
        (found->n_views != 0 && found->n_views != kernel->declaration->n_arrays))
        return pti_fail(ctx, POLYTILE_DECLARATION,
                        "%s: its specialiser found a body for %d indices and %d arrays; the "
                        "declaration has %d and %d",
                        name, found->n_indices, found->n_views, kernel->declaration->n_indices,
                        kernel->declaration->n_arrays);
    return pti_check_reserved(ctx, name, "polytile_implementation", found->reserved);
}

polytile_status pti_specialise(const polytile_device *device, const polytile_kernel *kernel,
                               const pti_instance *instance,
                               const polytile_implementation **found) {
    polytile_type types[PTI_MAX_OPERANDS];
    const polytile_implementation *general = &kernel->implementation;
    const polytile_specialisation wanted = {.context = device->object.context,
                                            .n_views = pti_instance_n_arrays(instance),
                                            .types = types,
                                            .cuda_capability = device->cuda_capability,
                                            .user = general->user};
    *found = general;
    if (general->specialise == NULL)
        return POLYTILE_OK;
    *found = NULL;
    for (int o = 0; o < pti_instance_n_arrays(instance); o++)
        types[o] = instance->operand[o].type;
    const polytile_status status = (polytile_status)general->specialise(&wanted, found);
    return status == POLYTILE_OK ? check_found(device, instance, kernel, *found)
                                 : refuse_kernel(device, instance, status);
}
