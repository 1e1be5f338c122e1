#include "partition/arena/arena.h"

#include "access/footprint/footprint.h"
#include "base/checked.h"

#include <assert.h>
#include <string.h>

_Static_assert((int)PTI_MOST_CELLS >= (int)PTI_MAX_OPERANDS * (int)PTI_MOST_STRIPS &&
                   (int)PTI_MOST_CELLS >= (int)PTI_MAX_OPERANDS + (int)PTI_MAX_LANES,
               "room for the strips of all operands, and for what is kept beside regions");

enum {
    PREFERRED_ALIGNMENT = 256,
    REGION_ALIGNMENT = 16,
    LARGEST_ALIGNMENT = 16, /* of operands */
    N_ALIGNMENTS = 5
};

/** Return whether pieces of an operand grow: the first is not yet the one that contains all
 * others. */
static bool pieces_grow(const pti_arena *arena, int operand) {
    polytile_domain first;
    return arena->is_kept[operand] &&
           pti_footprint_find_hull(arena->instance, operand, PTI_TOUCHES,
                                   &arena->partition->superblock[0], &first) &&
           !pti_box_equals(&first, &arena->kept[operand]);
}

/** Operands by falling alignment, so that packing them needs no padding. In regions, among equals,
 * those come first whose pieces grow: what is packed first has the same place in all
 * superblocks. */
static void sort_by_alignment(pti_arena *arena) {
    int n = 0;
    bool goes_first[PTI_MAX_OPERANDS];
    for (int a = 0; a < arena->instance->n_operands; a++)
        goes_first[a] = !arena->division.by_cells && pieces_grow(arena, a);
    for (int k = 0; k < 2 * N_ALIGNMENTS; k++) {
        for (int a = 0; a < arena->instance->n_operands; a++) {
            int64_t alignment = pti_operand_alignment(&arena->instance->operand[a]);
            if (alignment == LARGEST_ALIGNMENT >> k / 2 && goes_first[a] == (k % 2 == 0))
                arena->by_alignment[n++] = a;
        }
    }
}

/** Find the piece of an operand that contains those of all superblocks; false if none does, or if
 * it comes after pieces of which none contains the others. */
static bool find_kept(const pti_instance *instance, const pti_partition *partition, int operand,
                      polytile_domain *kept) {
    bool found =
        pti_footprint_find_hull(instance, operand, PTI_TOUCHES, &partition->superblock[0], kept);
    for (int64_t k = 1; k < partition->n_superblocks && found; k++) {
        polytile_domain hull;
        if (!pti_footprint_find_hull(instance, operand, PTI_TOUCHES, &partition->superblock[k],
                                     &hull))
            continue;
        if (pti_box_contains(&hull, kept))
            *kept = hull;
        else
            found = pti_box_contains(kept, &hull);
    }
    return found;
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

/** Lay out cells one after another; returns the arena's size. */
static int64_t lay_out_cells(pti_arena *arena, int64_t alignment) {
    int64_t offset = 0;
    int n_cells = 0;
    for (int k = 0; k < arena->instance->n_operands; k++) {
        int a = arena->by_alignment[k];
        arena->operand_cells[a] = &arena->cell[n_cells];
        for (int s = 0; s < arena->division.n_cells[a]; s++) {
            assert(n_cells < PTI_MOST_CELLS);
            offset = align_up(offset, alignment);
            arena->cell[n_cells++] = (pti_cell){offset, pti_last_none()};
            offset += arena->cell_bytes[a];
        }
    }
    return offset;
}

static void lay_out_regions(pti_arena *arena) {
    int64_t region_bytes = arena->division.arena_bytes / arena->partition->n_buffers;
    for (int s = 0; s < arena->partition->n_buffers; s++)
        arena->cell[s] = (pti_cell){s * region_bytes, pti_last_none()};
    for (int a = 0; a < arena->instance->n_operands; a++)
        arena->operand_cells[a] = arena->cell;
}

/** Return the bytes of a superblock's pieces that are not kept. */
static int64_t passing_bytes(const pti_arena *arena, int64_t superblock) {
    int64_t bytes[PTI_MAX_OPERANDS], sum = 0;
    pti_piece_bytes(arena->instance, &arena->partition->superblock[superblock], bytes);
    for (int a = 0; a < arena->instance->n_operands; a++)
        sum += arena->is_kept[a] ? 0 : bytes[a];
    return sum;
}

static bool keeps_any(const pti_arena *arena) {
    bool keeps = false;
    for (int a = 0; a < arena->instance->n_operands; a++)
        keeps |= arena->is_kept[a];
    return keeps;
}

/** Lay out regions for what is not kept, and after them cells for what is; false, with nothing
 * kept, if there is no room. */
static bool lay_out_beside_regions(pti_arena *arena, int64_t limit_bytes) {
    int n_cells = arena->partition->n_buffers;
    int64_t region_bytes = 0;
    for (int64_t k = 0; k < arena->partition->n_superblocks; k++)
        region_bytes = pti_max(region_bytes, passing_bytes(arena, k));
    region_bytes = align_up(region_bytes, REGION_ALIGNMENT);
    int64_t offset = n_cells * region_bytes;
    for (int a = 0; a < arena->instance->n_operands; a++)
        offset += arena->is_kept[a] ? align_up(arena->cell_bytes[a], REGION_ALIGNMENT) : 0;
    if (offset > limit_bytes) {
        memset(arena->is_kept, 0, sizeof arena->is_kept);
        return false;
    }
    arena->division.arena_bytes = n_cells * region_bytes;
    lay_out_regions(arena);
    for (int a = 0; a < arena->instance->n_operands; a++) {
        if (!arena->is_kept[a])
            continue;
        arena->operand_cells[a] = &arena->cell[n_cells++];
        *arena->operand_cells[a] = (pti_cell){arena->division.arena_bytes, pti_last_none()};
        arena->division.arena_bytes += align_up(arena->cell_bytes[a], REGION_ALIGNMENT);
    }
    return true;
}

bool pti_arena_divide(pti_arena *arena, const pti_instance *instance,
                      const pti_partition *partition, int64_t limit_bytes) {
    pti_demand demand = demand_of(instance, partition);
    int64_t n_pieces[PTI_MAX_OPERANDS];
    arena->instance = instance;
    arena->partition = partition;
    for (int a = 0; a < instance->n_operands; a++) {
        arena->is_kept[a] =
            !partition->has_own_piece[a] && find_kept(instance, partition, a, &arena->kept[a]);
        n_pieces[a] = arena->is_kept[a] ? 1 : INT64_MAX;
        arena->cell_bytes[a] = demand.operand_bytes[a];
    }
    arena->division = pti_demand_divide(&demand, instance, n_pieces, partition->n_places,
                                        partition->n_buffers, partition->n_lanes, limit_bytes);
    if (arena->division.arena_bytes > limit_bytes)
        return false;
    sort_by_alignment(arena);
    if (!arena->division.by_cells) {
        if (!keeps_any(arena) || !lay_out_beside_regions(arena, limit_bytes))
            lay_out_regions(arena);
        return true;
    }
    int64_t aligned_bytes = lay_out_cells(arena, PREFERRED_ALIGNMENT);
    arena->division.arena_bytes =
        aligned_bytes <= limit_bytes ? aligned_bytes : lay_out_cells(arena, 1);
    return true;
}

bool pti_arena_find_piece(const pti_arena *arena, int operand, const polytile_domain *threads,
                          polytile_domain *hull) {
    bool touched = pti_footprint_find_hull(arena->instance, operand, PTI_TOUCHES, threads, hull);
    if (touched && arena->is_kept[operand])
        *hull = arena->kept[operand];
    return touched;
}

bool pti_arena_has_cells(const pti_arena *arena, int operand) {
    return arena->division.by_cells || arena->is_kept[operand];
}

int pti_arena_next_cell(const pti_arena *arena, int operand, int64_t superblock, int cell) {
    if (arena->partition->has_own_piece[operand])
        return pti_partition_strip(arena->partition, superblock);
    if (arena->is_kept[operand])
        return 0;
    if (arena->division.by_cells)
        return (cell + 1) % arena->division.n_cells[operand];
    return (int)(superblock % arena->partition->n_buffers);
}

void pti_arena_prepare(pti_arena *arena, int64_t superblock) {
    if (arena->division.by_cells)
        return;
    int64_t offset = arena->cell[superblock % arena->partition->n_buffers].offset_bytes;
    int64_t bytes[PTI_MAX_OPERANDS];
    pti_piece_bytes(arena->instance, &arena->partition->superblock[superblock], bytes);
    for (int k = 0; k < arena->instance->n_operands; k++) {
        int a = arena->by_alignment[k];
        arena->next_offset[a] = offset;
        offset += arena->is_kept[a] ? 0 : bytes[a];
    }
}

int64_t pti_arena_offset(const pti_arena *arena, int operand, int cell) {
    return pti_arena_has_cells(arena, operand) ? arena->operand_cells[operand][cell].offset_bytes
                                               : arena->next_offset[operand];
}
