/* The slots of mandelbrot, one body for every device: slot 0 hands out rows, and collects them, or
 * the program does. */
#include "mandelbrot_kernels.h"

#include <polytile/message.h>

/** Compute rows as long as there are some; each is sent with the request for the next one. */
PT_FUNCTION void compute_rows(pt_slot *PT_TEAM, int master, int32_t *row, int32_t *work,
                              int64_t n) {
    for (;;) {
        if (pt_send(work, 4, master, ASK_TAG) ||
            (*work != NO_ROW && pt_send(row, 4 * n, master, ROW_TAG)) ||
            pt_recv(work, 4, master, ANSWER_TAG, 0) || *work == NO_ROW)
            return;
        for (int64_t j = PT_LANE; j < n; j += PT_LANES)
            row[j] = mandelbrot_point(n, *work, j);
    }
}

POLYTILE_TEAM_KERNEL(mandelbrot, (s), (int32_t, row, 2), (int32_t, work, 1), (int32_t, image, 2)) {
    const int64_t n = PT_EXTENT(row, 1);
    int32_t next = 0;
    pt_status who;
    if (pt_rank() > 0) {
        compute_rows(PT_TEAM, 0, &PT_AT(row, s, 0), &PT_AT(work, s), n);
        return;
    }
    for (int64_t left = n + pt_ranks() - 1; left > 0; --left) {
        if (pt_recv(&PT_AT(work, s), 4, PT_ANY, ASK_TAG, &who))
            return;
        const int32_t done = PT_AT(work, s);
        if (done != NO_ROW && pt_recv(&PT_AT(image, done, 0), 4 * n, who.source, ROW_TAG, 0))
            return;
        PT_TEAM_SYNC;
        if (PT_LANE == 0)
            PT_AT(work, s) = next < n ? next : NO_ROW;
        ++next;
        if (pt_send(&PT_AT(work, s), 4, who.source, ANSWER_TAG))
            return;
    }
}

POLYTILE_TEAM_KERNEL(mandelbrot_ask, (s), (int32_t, row, 2), (int32_t, work, 1)) {
    compute_rows(PT_TEAM, PT_PROGRAM, &PT_AT(row, s, 0), &PT_AT(work, s), PT_EXTENT(row, 1));
}

const polytile_implementation *mandelbrot_implementation(void) {
    return &mandelbrot_kernel;
}

const polytile_implementation *mandelbrot_ask_implementation(void) {
    return &mandelbrot_ask_kernel;
}
