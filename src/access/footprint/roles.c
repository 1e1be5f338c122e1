#include "access/array/type.h"
#include "access/declare/declaration.h"
#include "access/footprint/footprint.h"
#include "access/footprint/section.h"
#include "access/footprint/section_boxes.h"
#include "base/checked.h"

/* What a launch does with each of its arrays, by all of an operand's sections together. */

void pti_operand_add_role(pti_operand *operand, const pti_section *section) {
    bool reduces = pti_role_reduces(section->role);
    if (section->role == POLYTILE_SCRATCH)
        return;
    operand->writes = operand->writes || section->role != POLYTILE_IN;
    operand->reads =
        operand->reads || (section->role != POLYTILE_OUT && !(reduces && section->fresh));
    operand->reduces = operand->reduces || reduces;
    operand->fresh = operand->fresh || (reduces && section->fresh);
    if (reduces)
        operand->reduction = section->role;
}

/* One array is combined in one way, and has no other role: threads combine into pieces of their
 * own, which hold what is combined and nothing else. */
static bool roles_agree(const pti_operand *operand, const pti_section *section) {
    if (pti_role_reduces(section->role))
        return section->role == operand->reduction && section->fresh == operand->fresh;
    return !operand->reduces;
}

static polytile_status check_elements(polytile_context *ctx, const pti_instance *instance,
                                      const pti_operand *operand) {
    char type[PTI_TYPE_TEXT_BYTES];
    const char *lacking = pti_role_lacks(operand->reduction, operand->type);
    if (lacking == NULL)
        return POLYTILE_OK;
    return pti_fail(ctx, POLYTILE_INVALID, "%s: %s has elements of %s, and its role is '%s'; %s",
                    instance->kernel_name, operand->name, pti_type_format(operand->type, type),
                    pti_role_word(operand->reduction), lacking);
}

/** Find what a kernel does with an operand by the roles of its sections, and refuse roles that
 * disagree. */
static polytile_status fill_role(polytile_context *ctx, const pti_instance *instance,
                                 pti_operand *operand) {
    const pti_section *sections = &instance->section[operand->first_section];
    for (int s = 0; s < operand->n_sections; s++)
        pti_operand_add_role(operand, &sections[s]);
    for (int s = 0; s < operand->n_sections; s++)
        if (!roles_agree(operand, &sections[s]))
            return pti_fail(ctx, POLYTILE_DECLARATION,
                            "%s: %s is reduced in two ways, or has another role beside a reducing "
                            "one; split it into two arrays",
                            instance->kernel_name, operand->name);
    if (operand->fresh && operand->type < 0)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: %s starts from the identity of a reduction, but its elements are %d "
                        "raw bytes; use a number type, or drop \"out\" and fill it before",
                        instance->kernel_name, operand->name, (int)operand->element_bytes);
    return operand->reduces ? check_elements(ctx, instance, operand) : POLYTILE_OK;
}

bool pti_operand_writes_unknown(const pti_instance *instance, const pti_operand *operand,
                                const polytile_domain *threads) {
    int64_t n_boxes = 0;
    for (int s = 0; s < operand->n_sections; s++) {
        const pti_section *section = &instance->section[operand->first_section + s];
        if (section->role == POLYTILE_IN || section->role == POLYTILE_SCRATCH)
            continue;
        if (!section->exact ||
            pti_add_overflows(n_boxes, pti_section_most_boxes(instance, section, threads),
                              &n_boxes))
            return true;
    }
    return n_boxes > PTI_MAX_WRITE_BOXES;
}

/* An operand whose written elements are not known as a few boxes is moved as one hull, both ways.
 */
static polytile_status fill_partial(polytile_context *ctx, const pti_instance *instance,
                                    pti_operand *operand) {
    operand->partial = pti_operand_writes_unknown(instance, operand, &instance->threads);
    operand->reads = operand->reads || operand->partial;
    if (operand->partial && operand->fresh)
        return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                        "%s: which elements of %s start from the identity takes more than %d boxes "
                        "to say; drop \"out\" from its role and fill %s before the launch",
                        instance->kernel_name, operand->name, PTI_MAX_WRITE_BOXES, operand->name);
    return POLYTILE_OK;
}

void pti_operand_forget_roles(pti_operand *operand) {
    operand->reads = operand->writes = operand->reduces = operand->fresh = operand->partial = false;
}

void pti_operand_set_known(const pti_instance *instance, pti_operand *operand) {
    pti_operand_forget_roles(operand);
    for (int s = 0; s < operand->n_sections; s++)
        pti_operand_add_role(operand, &instance->section[operand->first_section + s]);
}

polytile_status pti_operand_fill_roles(polytile_context *ctx, const pti_instance *instance,
                                       pti_operand *operand) {
    polytile_status status;
    PTI_TRY(fill_role(ctx, instance, operand));
    PTI_TRY(fill_partial(ctx, instance, operand));
done:
    return status;
}

polytile_status pti_instance_fill_roles(polytile_context *ctx, pti_instance *instance) {
    polytile_status status = POLYTILE_OK;
    for (int p = 0; p < instance->n_operands; p++)
        PTI_TRY(pti_operand_fill_roles(ctx, instance, &instance->operand[p]));
done:
    return status;
}
