#include "partition/arena/build.h"

#include "partition/schedule/builder.h"

static void place_whole(pti_builder *builder, int operand) {
    const pti_instance *instance = builder->schedule->instance;
    const pti_operand *of = &instance->operand[operand];
    pti_placement placement = {.operand = operand,
                               .layout = pti_memory_layout_of(&of->domain, of->element_bytes)};
    builder->schedule->launch_placement[operand] = pti_builder_place(builder, &placement);
}

static void fill_whole(pti_builder *builder, int operand, pti_last *filled) {
    const pti_instance *instance = builder->schedule->instance;
    pti_boxes boxes = {0};
    pti_last none = pti_last_none();
    if (instance->operand[operand].fresh)
        pti_footprint_boxes(instance, operand, PTI_WRITES, &instance->threads, PTI_MAX_WRITE_BOXES,
                            &boxes);
    for (int k = 0; k < boxes.n_boxes; k++) {
        pti_op op = {.kind = PTI_FILL,
                     .placement = builder->schedule->launch_placement[operand],
                     .source_placement = -1,
                     .bytes =
                         pti_box_count(&boxes.box[k]) * instance->operand[operand].element_bytes,
                     .box = boxes.box[k]};
        pti_last_note(filled, PTI_FILL, pti_builder_add(builder, &op, &none));
    }
    builder->failed |= boxes.failed;
    pti_boxes_free(&boxes);
}

polytile_status pti_schedule_build_in_place(const pti_instance *instance, pti_schedule **schedule) {
    *schedule = NULL;
    pti_builder builder;
    pti_builder_begin_one(&builder, instance, 1);
    if (builder.schedule == NULL)
        return POLYTILE_NO_MEMORY;
    builder.schedule->in_place = true;
    builder.schedule->superblock[0] = instance->threads;
    pti_last filled = pti_last_none();
    for (int a = 0; a < instance->n_operands; a++) {
        place_whole(&builder, a);
        fill_whole(&builder, a, &filled);
    }
    pti_op op = {
        .kind = PTI_LAUNCH, .placement = -1, .source_placement = -1, .box = instance->threads};
    pti_builder_add(&builder, &op, &filled);
    if (builder.failed) {
        pti_schedule_free(builder.schedule);
        return POLYTILE_NO_MEMORY;
    }
    *schedule = builder.schedule;
    return POLYTILE_OK;
}
