#include "case.h"
#include "common/bench.h"
#include "mandelbrot_kernels.h"

#include <polytile/message.h>

void rounds_hand_out_rows(polytile_context *ctx, polytile_queue *queue, void *user) {
    const rounds_master *master = user;
    const int64_t n = master->n, n_bytes = n * (int64_t)sizeof(int32_t);
    int32_t done, next = 0;
    pt_status who;
    for (int64_t left = n + master->n_slots; left > 0; left--) {
        bench_require(polytile_message_recv(queue, &done, 4, PT_ANY, ASK_TAG, &who), ctx);
        if (done != NO_ROW)
            bench_require(polytile_message_recv(queue, master->image + done * n, n_bytes,
                                                who.source, ROW_TAG, NULL),
                          ctx);
        const int32_t answer = next < n ? next++ : NO_ROW;
        bench_require(polytile_message_send(queue, &answer, 4, who.source, ANSWER_TAG), ctx);
    }
}
