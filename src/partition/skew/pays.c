#include "partition/skew/skew.h"

#include "access/footprint/footprint.h"
#include "partition/skew/memory.h"

#include <math.h>
#include <stdlib.h>

/** Return the bytes that a launch reads and those that it writes. */
static double moved_bytes(const pti_cut_launch *cut) {
    double n_bytes = 0;
    for (int o = 0; o < cut->call.instance->n_operands; o++) {
        const pti_operand *operand = &cut->call.instance->operand[o];
        polytile_domain hull =
            pti_footprint_hull(cut->call.instance, o, PTI_TOUCHES, &cut->call.instance->threads);
        n_bytes += (double)pti_box_count(&hull) * (double)operand->element_bytes *
                   (operand->reads + operand->writes);
    }
    return n_bytes;
}

/** Return the bytes of all that the chain touches, in one image of each array; below 0 when memory
 * runs out. */
static double touched_bytes_of_chain(const pti_chain *chain) {
    pti_skew_need *needs = pti_skew_needs(chain, chain->n_launches);
    double n_bytes = needs == NULL ? -1 : pti_skew_slabs_bytes(chain, needs, INT64_MAX);
    free(needs);
    return n_bytes;
}

bool pti_skew_pays(const pti_skew_request *request, const pti_skew_shape *shape, pti_text *why) {
    double all_bytes = touched_bytes_of_chain(request->chain);
    double left = 1 - (double)request->arena_bytes / fmax(1, all_bytes);
    double singly_bytes = 0, fused_bytes = (double)shape->h2d_bytes + (double)shape->d2h_bytes;
    for (int l = 0; l < request->chain->n_launches; l++)
        singly_bytes +=
            left * moved_bytes(&request->chain->launch[l]) / pti_chain_unit(request->chain);
    if (all_bytes < 0 || fused_bytes < singly_bytes)
        return all_bytes >= 0;
    pti_text_add(why,
                 "going through all arrays moves %.3g MiB, launch after launch moves about "
                 "%.3g MiB, since most of the data stays on the device",
                 fused_bytes / (1 << 20), fmax(0, singly_bytes) / (1 << 20));
    return false;
}
