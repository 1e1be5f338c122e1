#include "access/touched.h"

#include "access/isl/footprint_isl.h"

/** The most boxes of a footprint before threads are visited one by one, and of one with
 * relations. */
enum { MAX_BOXES = 1024, MAX_RELATION_BOXES = 1 << 20 };

/** Who visits the boxes. */
typedef struct visitor {
    pti_box_function *visit;
    void *user;
} visitor;

static void visit_hull(const pti_instance *instance, const pti_section *section,
                       const polytile_domain *threads, const visitor *to) {
    polytile_domain hull = pti_section_hull(instance, section, threads);
    if (!pti_box_is_empty(&hull))
        to->visit(&hull, to->user);
}

/** Visit a section, which is a box for one thread, or looks up what it has, and may be a box for
 * several. */
static void visit_section(const pti_instance *instance, const pti_section *section,
                          const polytile_domain *threads, const visitor *to) {
    if (section->is_box) {
        visit_hull(instance, section, threads, to);
        return;
    }
    int64_t point[POLYTILE_MAX_DIMS];
    pti_box_first_point(threads, point);
    do {
        const polytile_domain thread = polytile_domain_from_bounds(threads->n_dims, point, point);
        pti_section_each_of_thread(instance, section, &thread, to->visit, to->user);
    } while (pti_box_next_point(threads, point));
}

/** Visit the sections of a box of threads, one by one. */
static void visit_sections(const pti_instance *instance, int operand, pti_touch touch,
                           const polytile_domain *threads, const visitor *to) {
    const pti_operand *of = &instance->operand[operand];
    for (int s = of->first_section; s < of->first_section + of->n_sections; s++) {
        if (pti_section_counts(&instance->section[s], touch))
            visit_section(instance, &instance->section[s], threads, to);
    }
}

static void visit_boxes(const pti_boxes *boxes, const visitor *to) {
    for (int b = 0; b < boxes->n_boxes; b++)
        to->visit(&boxes->box[b], to->user);
}

/** Return whether no section of an operand stands for a relation in braces. */
static bool has_sections_only(const pti_instance *instance, int operand) {
    const pti_operand *of = &instance->operand[operand];
    bool are_exact = true;
    for (int s = of->first_section; s < of->first_section + of->n_sections; s++)
        are_exact =
            are_exact && (instance->section[s].exact || instance->section[s].indirection != NULL);
    return are_exact;
}

/** Return whether a section of an operand looks up what it has. */
static bool does_section_look_up(const pti_instance *instance, int operand) {
    const pti_operand *of = &instance->operand[operand];
    bool does = false;
    for (int s = of->first_section; s < of->first_section + of->n_sections; s++)
        does = does || instance->section[s].indirection != NULL;
    return does;
}

static polytile_status visit_relations(const polytile_kernel *kernel, const pti_instance *instance,
                                       int operand, pti_touch touch, const polytile_domain *threads,
                                       const visitor *to, bool *is_exact) {
    pti_boxes boxes = {0};
    *is_exact = false;
    polytile_status status = pti_footprint_isl(kernel, instance, operand, touch, threads,
                                               MAX_RELATION_BOXES, &boxes, is_exact);
    if (*is_exact)
        visit_boxes(&boxes, to);
    else if (status == POLYTILE_OK)
        visit_sections(instance, operand, touch, threads, to);
    pti_boxes_free(&boxes);
    return status;
}

/** Visit the footprint in closed form if it is exact; else return false. */
static bool visit_footprint(const pti_instance *instance, int operand, pti_touch touch,
                            const polytile_domain *threads, const visitor *to) {
    pti_boxes boxes = {0};
    bool is_exact = !instance->operand[operand].partial &&
                    !does_section_look_up(instance, operand) &&
                    pti_footprint_boxes(instance, operand, touch, threads, MAX_BOXES, &boxes);
    if (is_exact)
        visit_boxes(&boxes, to);
    pti_boxes_free(&boxes);
    return is_exact;
}

polytile_status pti_touched_each(const polytile_kernel *kernel, const pti_instance *instance,
                                 int operand, pti_touch touch, const polytile_domain *threads,
                                 pti_box_function *visit, void *user, bool *is_exact) {
    const visitor to = {visit, user};
    *is_exact = true;
    if (visit_footprint(instance, operand, touch, threads, &to))
        return POLYTILE_OK;
    if (!has_sections_only(instance, operand))
        return visit_relations(kernel, instance, operand, touch, threads, &to, is_exact);
    visit_sections(instance, operand, touch, threads, &to);
    return POLYTILE_OK;
}
