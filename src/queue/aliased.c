#include "queue/aliased.h"

#include "base/checked.h"
#include "partition/memory/resident_future.h"

static int64_t sum_bytes(const pti_piece *pieces, int n_pieces) {
    int64_t n_bytes = 0;
    for (int p = 0; p < n_pieces; p++)
        if (pti_add_overflows(n_bytes, pieces[p].bytes, &n_bytes))
            return INT64_MAX;
    return n_bytes;
}

int64_t pti_aliased_bytes(pti_call call, const polytile_domain *threads) {
    pti_piece pieces[PTI_MAX_OPERANDS];
    const int n_pieces = pti_pieces_find(call, threads, pieces);
    const int64_t n_bytes = sum_bytes(pieces, n_pieces);
    return pti_min(n_bytes, sum_bytes(pieces, pti_pieces_unite(call, pieces, n_pieces)));
}

bool pti_is_aliased(pti_call call) {
    for (int a = 0; a < call.instance->n_operands; a++) {
        for (int b = 0; b < a; b++) {
            if (call.array[a] == call.array[b])
                return true;
        }
    }
    return false;
}

polytile_status pti_aliased_cut(polytile_context *ctx, const pti_grain_request *request,
                                pti_partition *partition, int *way) {
    const pti_call declared = request->ways->call[0];
    polytile_status status = pti_grain_choose(ctx, request, partition, way);
    pti_grain_request whole = *request;
    if (status != POLYTILE_NO_FIT || !pti_is_aliased(declared) ||
        pti_aliased_bytes(declared, &declared.instance->threads) > request->arena_bytes)
        return status;
    pti_clear_error(ctx);
    whole.all_fit = true;
    return pti_grain_choose(ctx, &whole, partition, way);
}
