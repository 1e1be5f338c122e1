#include "partition/cost/demand.h"

#include "access/footprint/footprint.h"
#include "access/pieces/split.h"
#include "base/checked.h"

_Static_assert((int)PTI_MAX_SPLIT_OPERANDS <= (int)PTI_MAX_OPERANDS, "room for all pieces");

/** Return the bytes of a piece's layout, which has neither gaps nor padding. */
static int64_t layout_bytes(const polytile_domain *hull, int64_t element_bytes) {
    return pti_box_has_gaps(hull) ? pti_memory_layout_of(hull, element_bytes).size_bytes
                                  : pti_mul_saturated(pti_box_count(hull), element_bytes);
}

/** Return the device memory of a piece, rounded up to its alignment. */
static int64_t align_bytes(const pti_instance *instance, int64_t bytes) {
    int64_t alignment = pti_max(instance->piece_alignment_bytes, 1);
    int64_t above = pti_add_saturated(bytes, alignment - 1);
    return above == INT64_MAX ? above : above / alignment * alignment;
}

int64_t pti_piece_bytes(const pti_instance *instance, const polytile_domain *threads,
                        int64_t *operand_bytes) {
    int64_t sum = pti_pieces_clash(instance, threads) ? INT64_MAX : 0;
    for (int a = 0; a < instance->n_operands; a++) {
        polytile_domain hull;
        bool touched = pti_footprint_find_hull(instance, a, PTI_TOUCHES, threads, &hull);
        operand_bytes[a] = touched ? layout_bytes(&hull, instance->operand[a].element_bytes) : 0;
        operand_bytes[a] = align_bytes(instance, operand_bytes[a]);
        sum = pti_add_saturated(sum, operand_bytes[a]);
    }
    return sum;
}

void pti_demand_add(pti_demand *demand, const pti_instance *instance,
                    const polytile_domain *threads) {
    int64_t operand_bytes[PTI_MAX_OPERANDS];
    int64_t sum = pti_piece_bytes(instance, threads, operand_bytes);
    demand->superblock_bytes = pti_max(demand->superblock_bytes, sum);
    for (int a = 0; a < instance->n_operands; a++)
        demand->operand_bytes[a] = pti_max(demand->operand_bytes[a], operand_bytes[a]);
}

pti_division pti_demand_divide(const pti_demand *demand, const pti_instance *instance,
                               const int64_t *n_pieces, const int *n_places, int n_buffers,
                               int n_lanes, int64_t limit_bytes) {
    enum { REGION_ALIGNMENT = 16 };
    const bool clashes = demand->superblock_bytes == INT64_MAX;
    pti_division cells = {.by_cells = true, .arena_bytes = clashes ? INT64_MAX : 0};
    bool has_places = false;
    int n_cells = 0;
    for (int a = 0; a < instance->n_operands; a++) {
        has_places |= n_places[a] > 0;
        cells.n_cells[a] = n_places[a] > 0 ? n_places[a] : (int)pti_min(n_buffers, n_pieces[a]);
        if (instance->operand[a].is_scratch && n_lanes <= 1)
            cells.n_cells[a] = 1;
        n_cells += cells.n_cells[a];
        int64_t bytes = pti_mul_saturated(cells.n_cells[a], demand->operand_bytes[a]);
        cells.arena_bytes = pti_add_saturated(cells.arena_bytes, bytes);
    }
    if (has_places)
        return cells;
    int64_t region_bytes = demand->superblock_bytes;
    if (n_buffers > 1)
        region_bytes = pti_add_saturated(region_bytes, REGION_ALIGNMENT - 1) & -REGION_ALIGNMENT;
    pti_division regions = {.arena_bytes = pti_mul_saturated(n_buffers, region_bytes)};
    bool prefer_cells =
        cells.arena_bytes <= limit_bytes || cells.arena_bytes <= regions.arena_bytes;
    return prefer_cells && n_cells <= PTI_MOST_CELLS ? cells : regions;
}

int64_t pti_operand_alignment(const pti_operand *operand) {
    int64_t lowest_bit = operand->element_bytes & -operand->element_bytes;
    return pti_min(lowest_bit, 16);
}
