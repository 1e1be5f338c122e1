#include "partition/window/tiles_text.h"

#include "partition/ping_pong/tile_cost.h"
#include "partition/skew/tiled.h"

#include <inttypes.h>

void pti_tiles_describe_roles(const pti_role_change *change, pti_text *why) {
    if (change->n_alive == 1)
        pti_text_add(why, "which alternate between two arrays, ");
    else
        pti_text_add(why, "whose %d arrays change roles in turn, ", change->n_phases);
}

void pti_tiles_describe_largest(const pti_ping_pong *ping_pong, int n_launches, pti_text *why) {
    int64_t tile[2];
    if (pti_ping_pong_find_tile(ping_pong, n_launches, tile))
        pti_text_add(why, "tiles of %" PRId64 " x %" PRId64 " threads", tile[0], tile[1]);
}

static void describe_chain_sequence(const pti_tiled_sequence *sequence, const pti_skew_shape *shape,
                                    pti_text *why) {
    pti_text_add(why, "%s%d launches of %s in a row, ", why->length > 0 ? "; " : "",
                 (sequence->end - sequence->first) / sequence->n_halves,
                 sequence->ping_pong.instance->kernel_name);
    pti_tiles_describe_roles(&sequence->change, why);
    pti_text_add(why, "run at most %d as one in ", sequence->n_together);
    pti_tiles_describe_largest(&sequence->ping_pong, sequence->n_together, why);
    pti_text_add(why, "%s, in slabs of %" PRId64 " threads, %" PRId64 " a lap%s",
                 pti_tiled_n_aside(sequence) > 0 ? ", which store aside in turn" : "", shape->slab,
                 shape->n_per_lap, shape->concurrent ? ", two at once" : "");
}

void pti_tiles_describe_chain(const pti_chain *chain, const pti_skew_shape *shape, pti_text *why) {
    for (int r = 0; chain->tiled != NULL && r < chain->tiled->n_sequences; r++)
        describe_chain_sequence(&chain->tiled->sequence[r], shape, why);
    if (chain->lacks_rounds.length > 0)
        pti_text_add(why, "%slaunches in a row run one by one in each slab: %s",
                     why->length > 0 ? "; " : "", chain->lacks_rounds.data);
}
