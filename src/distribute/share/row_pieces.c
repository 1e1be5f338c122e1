#include "distribute/share/row_pieces.h"

#include "access/footprint/footprint.h"
#include "access/set/boxes.h"
#include "base/checked.h"

/** The most pieces, and the most bytes of all partial results together. */
enum { MOST_PIECES = 64, MOST_PARTIAL_BYTES = 64 << 20 };

static bool is_sum(const pti_instance *instance, int operand) {
    return instance->operand[operand].writes && instance->operand[operand].reduces &&
           !pti_operand_lies_apart(instance, operand, 0);
}

bool pti_row_pieces_are_asked(const pti_instance *instance) {
    bool are = false;
    for (int a = 0; a < instance->n_operands; a++)
        are |= is_sum(instance, a);
    return are;
}

/** Return whether another operand is the same array. */
static bool is_array_of_two(const pti_prepared *prepared, int operand) {
    for (int a = 0; a < prepared->n_arrays; a++) {
        if (a != operand && prepared->position[a] == prepared->position[operand])
            return true;
    }
    return false;
}

static void add_sum(const pti_prepared *prepared, int operand, pti_row_pieces *pieces) {
    pti_row_sum *sum = &pieces->sum[pieces->n_sums++];
    sum->operand = operand;
    sum->box = pti_box_without_steps(&prepared->written[operand]);
    sum->layout =
        pti_memory_layout_of(&sum->box, prepared->instance->operand[operand].element_bytes);
}

const char *pti_row_pieces_find(const pti_prepared *prepared, pti_row_pieces *pieces) {
    const pti_instance *instance = prepared->instance;
    double piece_bytes = 0;
    *pieces = (pti_row_pieces){0};
    for (int a = 0; a < instance->n_operands; a++) {
        if (!is_sum(instance, a) || pti_box_is_empty(&prepared->written[a]))
            continue;
        add_sum(prepared, a, pieces);
        piece_bytes += (double)pieces->sum[pieces->n_sums - 1].layout.size_bytes;
        if (is_array_of_two(prepared, a))
            return "several rows reduce into an array that has two names";
    }
    const double most = (double)pti_min(MOST_PIECES, pti_range_count(instance->threads.range[0]));
    const double n_pieces =
        piece_bytes * most > MOST_PARTIAL_BYTES ? MOST_PARTIAL_BYTES / piece_bytes : most;
    pieces->n_pieces = (int64_t)n_pieces;
    return pieces->n_sums > 0 && pieces->n_pieces < 1
               ? "several rows reduce into elements of more than 64 MiB"
               : NULL;
}

bool pti_row_pieces_have(const pti_row_pieces *pieces, int operand) {
    for (int s = 0; s < pieces->n_sums; s++) {
        if (pieces->sum[s].operand == operand)
            return true;
    }
    return false;
}

polytile_domain pti_row_pieces_threads(const pti_row_pieces *pieces, const pti_instance *instance,
                                       int64_t first, int64_t count) {
    polytile_domain threads = instance->threads;
    const polytile_range whole = threads.range[0];
    if (pieces->n_sums == 0) {
        threads.range[0] = pti_range_slice(whole, first, count);
        return threads;
    }
    const polytile_range begin = pti_range_cut(whole, pieces->n_pieces, first);
    const polytile_range end = pti_range_cut(whole, pieces->n_pieces, first + count - 1);
    threads.range[0] = (polytile_range){begin.lo, end.hi, whole.step};
    return threads;
}
