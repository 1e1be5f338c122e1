#include "message/straight.h"

/** The smallest pages, which systems copy between processes one by one. */
enum { PAGE_BYTES = 4096 };

bool pti_straight_is_allowed(const pti_server *server, int participant) {
    return participant != server->n_slots && pti_device_of(server, participant) == NULL;
}

int64_t pti_straight_find_page_offset(const void *address) {
    return (int64_t)((uintptr_t)address % PAGE_BYTES);
}

/** Return whether processors of x86 move strings a fifth as fast to a place that is so much further
 * on in its page. The C library of GNU has Avoid_Short_Distance_REP_MOVSB for that. */
static bool is_short_distance(int64_t n_bytes) {
    enum { SHORT_BYTES = 64, EVEN_BYTES = 16 };
    return n_bytes < SHORT_BYTES && n_bytes % EVEN_BYTES != 0;
}

bool pti_straight_is_sooner(const pti_post *send, int64_t page_offset) {
    const int64_t own = pti_straight_find_page_offset(send->data);
    return send->n_bytes > 0 && !is_short_distance((page_offset - own + PAGE_BYTES) % PAGE_BYTES);
}

bool pti_straight_end_piece(pti_server *server, pti_post *send, int64_t n_bytes) {
    server->processes->straight_bytes -= n_bytes;
    pti_server_tell_still(server);
    return --send->n_leaving == 0;
}
