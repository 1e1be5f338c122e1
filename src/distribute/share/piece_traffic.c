#include "distribute/share/piece_traffic.h"

#include "base/checked.h"

#include <math.h>

pti_piece_traffic pti_piece_traffic_of(const pti_instance *instance) {
    pti_piece_traffic of = {.n_rows = pti_range_count(instance->threads.range[0])};
    for (int o = 0; o < instance->n_operands; o++) {
        const pti_operand *operand = &instance->operand[o];
        polytile_domain hull;
        if (operand->is_scratch ||
            !pti_footprint_find_hull(instance, o, PTI_TOUCHES, &instance->threads, &hull))
            continue;
        const double n_bytes = (double)pti_box_count(&hull) * (double)operand->element_bytes;
        of.touched_bytes += n_bytes;
        if (operand->reads && !operand->writes && !pti_operand_depends(instance, o, 0))
            of.fixed_bytes += n_bytes;
        if (operand->writes && !operand->reduces)
            of.written_bytes += n_bytes;
    }
    return of;
}

double pti_piece_traffic_again(const pti_piece_traffic *of, int64_t usable_bytes) {
    const bool stays =
        of->touched_bytes <= (double)usable_bytes || 2 * of->fixed_bytes <= (double)usable_bytes;
    return stays ? 0 : of->fixed_bytes;
}

int64_t pti_piece_traffic_rows(const pti_piece_traffic *of, double n_bytes, int n_parts) {
    const double row_bytes = (of->touched_bytes - of->fixed_bytes) / (double)pti_max(of->n_rows, 1);
    const int64_t most = pti_max(1, of->n_rows / (4 * n_parts));
    if (!(n_bytes > 0))
        return 1;
    return n_bytes < row_bytes * (double)most ? (int64_t)ceil(n_bytes / row_bytes) : most;
}
