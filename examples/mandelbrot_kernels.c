/* The slots of mandelbrot, one body for every device: slot 0 hands out rows, and collects them. */
#include "mandelbrot_kernels.h"

#include <polytile/message.h>

/** A worker's request names the row that it has computed, NO_ROW at first; the answer the next
 * one. */
enum { ASK, ANSWER, ROW, NO_ROW = -1 };

POLYTILE_TEAM_KERNEL(mandelbrot, (s), (int32_t, image, 2), (int32_t, row, 2), (int32_t, work, 1)) {
    const int64_t n = PT_EXTENT(row, 1);
    int32_t next = 0;
    pt_status who;
    for (int64_t left = n + pt_ranks() - 1; pt_rank() == 0 && left > 0; --left) {
        if (pt_recv(&PT_AT(work, s), 4, PT_ANY, ASK, &who))
            return;
        const int32_t done = PT_AT(work, s);
        if (done != NO_ROW && pt_recv(&PT_AT(image, done, 0), 4 * n, who.source, ROW, 0))
            return;
        PT_TEAM_SYNC;
        if (PT_LANE == 0)
            PT_AT(work, s) = next < n ? next : NO_ROW;
        ++next;
        if (pt_send(&PT_AT(work, s), 4, who.source, ANSWER))
            return;
    }
    while (pt_rank() > 0) {
        if (pt_send(&PT_AT(work, s), 4, 0, ASK) ||
            (PT_AT(work, s) != NO_ROW && pt_send(&PT_AT(row, s, 0), 4 * n, 0, ROW)) ||
            pt_recv(&PT_AT(work, s), 4, 0, ANSWER, 0) || PT_AT(work, s) == NO_ROW)
            return;
        for (int64_t j = PT_LANE; j < n; j += PT_LANES)
            PT_AT(row, s, j) = mandelbrot_point(n, PT_AT(work, s), j);
    }
}

const polytile_implementation *mandelbrot_implementation(void) {
    return &mandelbrot_kernel;
}
