#include "partition/memory/arena.h"

#include "access/footprint/footprint.h"

enum { PREFERRED_ALIGNMENT = 256 };

/** Operands by falling alignment, so that packing them needs no padding. */
static void sort_by_alignment(pti_arena *arena) {
    int n = 0;
    for (int64_t alignment = 16; alignment >= 1; alignment /= 2) {
        for (int a = 0; a < arena->instance->n_operands; a++) {
            if (pti_operand_alignment(&arena->instance->operand[a]) == alignment)
                arena->by_alignment[n++] = a;
        }
    }
}

static bool same_pieces(const pti_instance *instance, const pti_partition *partition, int operand) {
    polytile_domain first =
        pti_footprint_hull(instance, operand, PTI_TOUCHES, &partition->superblock[0]);
    for (int64_t k = 1; k < partition->n_superblocks; k++) {
        polytile_domain hull =
            pti_footprint_hull(instance, operand, PTI_TOUCHES, &partition->superblock[k]);
        if (!pti_box_equals(&hull, &first))
            return false;
    }
    return true;
}

static pti_demand demand_of(const pti_instance *instance, const pti_partition *partition) {
    pti_demand demand = {0};
    for (int64_t k = 0; k < partition->n_superblocks; k++)
        pti_demand_add(&demand, instance, &partition->superblock[k]);
    return demand;
}

static int64_t align_up(int64_t bytes, int64_t alignment) {
    return (bytes + alignment - 1) / alignment * alignment;
}

/** Lay out slots one after another; returns the arena's size. */
static int64_t lay_out_slots(pti_arena *arena, int64_t alignment) {
    int64_t offset = 0;
    int n_cells = 0;
    for (int k = 0; k < arena->instance->n_operands; k++) {
        int a = arena->by_alignment[k];
        arena->slots[a] = &arena->cell[n_cells];
        for (int s = 0; s < arena->division.n_slots[a]; s++) {
            offset = align_up(offset, alignment);
            arena->cell[n_cells++] = (pti_cell){offset, pti_last_none()};
            offset += arena->slot_bytes[a];
        }
    }
    return offset;
}

static void lay_out_regions(pti_arena *arena) {
    int64_t region_bytes = arena->division.arena_bytes / arena->partition->n_buffers;
    for (int s = 0; s < arena->partition->n_buffers; s++)
        arena->cell[s] = (pti_cell){s * region_bytes, pti_last_none()};
    for (int a = 0; a < arena->instance->n_operands; a++)
        arena->slots[a] = arena->cell;
}

bool pti_arena_divide(pti_arena *arena, const pti_instance *instance,
                      const pti_partition *partition, int64_t limit_bytes) {
    pti_demand demand = demand_of(instance, partition);
    int64_t n_pieces[PTI_MAX_OPERANDS];
    arena->instance = instance;
    arena->partition = partition;
    for (int a = 0; a < instance->n_operands; a++) {
        n_pieces[a] = same_pieces(instance, partition, a) ? 1 : INT64_MAX;
        arena->slot_bytes[a] = demand.operand_bytes[a];
    }
    arena->division = pti_demand_divide(&demand, instance, n_pieces, partition->n_places,
                                        partition->n_buffers, limit_bytes);
    if (arena->division.arena_bytes > limit_bytes)
        return false;
    sort_by_alignment(arena);
    if (!arena->division.by_slots) {
        lay_out_regions(arena);
        return true;
    }
    int64_t aligned_bytes = lay_out_slots(arena, PREFERRED_ALIGNMENT);
    arena->division.arena_bytes =
        aligned_bytes <= limit_bytes ? aligned_bytes : lay_out_slots(arena, 1);
    return true;
}

int pti_arena_next_slot(const pti_arena *arena, int operand, int64_t superblock, int slot) {
    if (arena->partition->has_own_piece[operand])
        return pti_partition_strip(arena->partition, superblock);
    if (arena->division.by_slots)
        return (slot + 1) % arena->division.n_slots[operand];
    return (int)(superblock % arena->partition->n_buffers);
}

void pti_arena_prepare(pti_arena *arena, int64_t superblock) {
    if (arena->division.by_slots)
        return;
    int64_t offset = arena->cell[superblock % arena->partition->n_buffers].offset_bytes;
    int64_t bytes[PTI_MAX_OPERANDS];
    pti_piece_bytes(arena->instance, &arena->partition->superblock[superblock], bytes);
    for (int k = 0; k < arena->instance->n_operands; k++) {
        int a = arena->by_alignment[k];
        arena->next_offset[a] = offset;
        offset += bytes[a];
    }
}

int64_t pti_arena_offset(const pti_arena *arena, int operand, int slot) {
    return arena->division.by_slots ? arena->slots[operand][slot].offset_bytes
                                    : arena->next_offset[operand];
}
