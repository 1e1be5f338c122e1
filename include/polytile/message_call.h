#ifndef POLYTILE_MESSAGE_CALL_H
#define POLYTILE_MESSAGE_CALL_H

/*
 * The calls of message.h, which includes this, for every device: what differs is in message_host.h,
 * and in message_spin.h with message_cuda.h. All lanes of a team call them with the same arguments;
 * the first lane speaks to the server. In every function the barriers before and after what the
 * first lane does let all lanes see the same, and none go on too soon.
 */

/** The first lane makes the team's next entry. */
PT_MESSAGE_FUNCTION void pt_make_entry(pt_slot *team, pt_kind kind, int flags, int peer, int tag,
                                       const void *data, int64_t n_bytes) {
    pt_entry *entry = &team->entry;
    entry->slot = (uint16_t)team->rank;
    entry->n_payloads = (uint16_t)team->n_payloads;
    entry->kind = (uint8_t)kind;
    entry->flags = (uint8_t)flags;
    entry->request = PT_NO_REQUEST;
    entry->peer = peer;
    entry->tag = tag;
    entry->address = (uint64_t)(uintptr_t)data;
    entry->n_bytes = n_bytes;
}

/* Words of any type. */
typedef struct pt_line {
    uint64_t first, second;
} __attribute__((aligned(16), may_alias)) pt_line;

typedef uint64_t pt_entry_word __attribute__((may_alias));

/** Words of an entry before the data that it carries, its commit included. */
enum { PT_HEAD_WORDS = (sizeof(pt_entry) - PT_ENTRY_BYTES) / sizeof(pt_entry_word) };

PT_MESSAGE_FUNCTION int pt_is_aligned(const void *one, const void *other) {
    return (((uintptr_t)one | (uintptr_t)other) & (sizeof(pt_line) - 1)) == 0;
}

/** Copy by all lanes. */
PT_MESSAGE_FUNCTION void pt_copy(void *to, const void *from, int64_t n_bytes) {
    const int64_t n_lines =
        pt_is_aligned(to, from) ? n_bytes / (int64_t)sizeof(pt_line) : (int64_t)0;
    for (int64_t k = PT_LANE; k < n_lines && to != from; k += PT_LANES)
        ((pt_line *)to)[k] = ((const pt_line *)from)[k];
    for (int64_t k = n_lines * (int64_t)sizeof(pt_line) + PT_LANE; k < n_bytes && to != from;
         k += PT_LANES)
        ((char *)to)[k] = ((const char *)from)[k];
}

#define PT_NO_PLACE UINT64_MAX

/** Take the next place of the ring, once what was there is taken; none: the launch is being
 * ended. */
PT_MESSAGE_FUNCTION uint64_t pt_take_place(pt_slot *team) {
    const pt_ring *ring = team->ring;
    const uint64_t place = PT_ADD_RELAXED(ring->head, 1);
    if (place >= ring->n_entries && PT_AWAIT_CREDIT(team, place - ring->n_entries + 1))
        return PT_NO_PLACE;
    return place;
}

/** Where an entry carries its data: within it, or beside it if they are more than fit. */
PT_MESSAGE_FUNCTION void *pt_find_payload(const pt_ring *ring, uint64_t place, int64_t n_bytes) {
    const uint64_t at = place & (ring->n_entries - 1);
    return n_bytes <= PT_ENTRY_BYTES ? (void *)ring->entry[at].data
                                     : (void *)(ring->payload + at * PT_PAYLOAD_BYTES);
}

/** Fill a place of the ring with the team's entry by some lanes, of which this is one, but for the
 * commit. */
PT_MESSAGE_FUNCTION void pt_fill_place(const pt_slot *team, int lane, int n_lanes) {
    const pt_ring *ring = team->ring;
    pt_entry_word *to = (pt_entry_word *)&ring->entry[team->place & (ring->n_entries - 1)];
    const pt_entry_word *from = (const pt_entry_word *)&team->entry;
    for (int k = 1 + lane; k < PT_HEAD_WORDS; k += n_lanes)
        to[k] = from[k];
}

PT_MESSAGE_FUNCTION void pt_commit(pt_slot *team) {
    const pt_ring *ring = team->ring;
    PT_STORE_RELEASE(&ring->entry[team->place & (ring->n_entries - 1)].commit, team->place + 1);
    PT_NOTIFY(team, 0);
}

/** All lanes put the team's entry, which the first lane has made, with what it carries. */
PT_MESSAGE_FUNCTION void pt_put_entry(pt_slot *team) {
    const pt_entry *entry = &team->entry;
    if (PT_LANE == 0)
        team->place = pt_take_place(team);
    PT_TEAM_SYNC;
    if (team->place == PT_NO_PLACE)
        return;
    pt_fill_place(team, PT_LANE, PT_LANES);
    if ((entry->flags & PT_CARRIED) != 0)
        pt_copy(pt_find_payload(team->ring, team->place, entry->n_bytes),
                (const void *)(uintptr_t)entry->address, entry->n_bytes);
    PT_TEAM_SYNC;
    if (PT_LANE == 0)
        pt_commit(team);
}

/** The first lane's result, 0 or 1, for all. */
PT_MESSAGE_FUNCTION int pt_share_result(const pt_slot *team) {
    return PT_TEAM_OR(PT_LANE == 0 && team->result != 0);
}

/** Wait until a word is as large as wanted. */
PT_MESSAGE_FUNCTION int pt_await_all(pt_slot *team, const uint64_t *word, uint64_t wanted) {
    if (PT_LANE == 0)
        team->result = PT_AWAIT(team, word, wanted);
    return pt_share_result(team);
}

/** Wait for the end of the launch. */
PT_MESSAGE_FUNCTION int pt_await_end(pt_slot *team) {
    pt_await_all(team, team->ring->ending, 1);
    return 1;
}

/** Tell the server of a call that it must refuse, and wait for the end of the launch. */
PT_MESSAGE_FUNCTION int pt_refuse(pt_slot *team, pt_kind kind, int flags, int peer, int tag,
                                  const void *data, int64_t n_bytes) {
    PT_TEAM_SYNC;
    if (PT_LANE == 0)
        pt_make_entry(team, kind, flags, peer, tag, data, n_bytes);
    pt_put_entry(team);
    return pt_await_end(team);
}

PT_MESSAGE_FUNCTION int pt_is_ending(pt_slot *team) {
    if (PT_LANE == 0)
        team->result = PT_IS_ENDING(team);
    return pt_share_result(team);
}

PT_MESSAGE_FUNCTION int pt_lies_in(const void *data, int64_t n_bytes, const char *begin,
                                   const char *end) {
    const char *at = (const char *)data;
    return n_bytes >= 0 && at >= begin && at <= end && n_bytes <= end - at;
}

/** Whether a buffer lies in the launch's arrays, or in what a slot has to reduce. */
PT_MESSAGE_FUNCTION int pt_is_buffer(const pt_slot *team, const void *data, int64_t n_bytes,
                                     int is_written) {
    const pt_ring *ring = team->ring;
    int is =
        n_bytes == 0 || pt_lies_in(data, n_bytes, team->stage, team->stage + 2 * PT_STAGE_BYTES);
    for (int m = 0; m < ring->n_memories; m++)
        is |= (ring->memory[m].is_written || !is_written) &&
              pt_lies_in(data, n_bytes, ring->memory[m].begin, ring->memory[m].end);
    return is;
}

/** Whether a message is short, and may be read. */
PT_MESSAGE_FUNCTION int pt_can_carry(const pt_slot *team, const void *data, int64_t n_bytes) {
    return team->ring->payload != 0 && n_bytes <= PT_PAYLOAD_BYTES &&
           pt_is_buffer(team, data, n_bytes, 0);
}

/** Note of a send whose data come with its entry what became of it. */
PT_MESSAGE_FUNCTION void pt_note_carried(pt_slot *team, int request, const pt_entry *entry) {
    team->carried |= 1u << request;
    team->sent[request].tag = entry->tag;
    team->sent[request].n_bytes = entry->n_bytes;
}

/** The first lane finds a free request for the team's entry, and opens it; if there is none, the
 * entry says so. */
PT_MESSAGE_FUNCTION void pt_open_request(pt_slot *team) {
    pt_entry *entry = &team->entry;
    int request = 0;
    while (request < PT_MAX_REQUESTS && (team->open >> request & 1) != 0)
        request++;
    if (request == PT_MAX_REQUESTS) {
        entry->kind = PT_REQUESTS_ENTRY;
        return;
    }
    entry->request = (int16_t)request;
    team->open |= 1u << request;
    team->carried &= ~(1u << request);
    team->buffer[request] = (void *)(uintptr_t)entry->address;
    if (entry->kind != PT_SEND_ENTRY ||
        !pt_can_carry(team, team->buffer[request], entry->n_bytes)) {
        team->awaited[request]++;
        return;
    }
    entry->flags |= PT_CARRIED;
    pt_note_carried(team, request, entry);
}

/** Begin a send or a receive. */
PT_MESSAGE_FUNCTION int pt_begin(pt_slot *team, pt_kind kind, int flags, int peer, int tag,
                                 const void *data, int64_t n_bytes, pt_request *request) {
    PT_TEAM_SYNC;
    if (PT_LANE == 0) {
        pt_make_entry(team, kind, flags, peer, tag, data, n_bytes);
        pt_open_request(team);
    }
    pt_put_entry(team);
    *request = team->entry.request;
    if (*request != PT_NO_REQUEST)
        return pt_is_ending(team);
    PT_TEAM_SYNC;
    return pt_await_end(team);
}

/** Copy what a slot sends to itself, once all lanes have stored it: buffers are those of a send and
 * a receive. */
PT_MESSAGE_FUNCTION int pt_copy_own(pt_slot *team, void *to, const void *from, int64_t n_bytes,
                                    int tag) {
    if (!pt_is_buffer(team, from, n_bytes, 0))
        return pt_refuse(team, PT_SEND_ENTRY, PT_COLLECTIVE, team->rank, tag, from, n_bytes);
    if (!pt_is_buffer(team, to, n_bytes, 1))
        return pt_refuse(team, PT_RECV_ENTRY, PT_COLLECTIVE, team->rank, tag, to, n_bytes);
    PT_TEAM_SYNC;
    pt_copy(to, from, n_bytes);
    return 0;
}

PT_MESSAGE_FUNCTION int pt_begin_send(pt_slot *team, const void *data, int64_t n_bytes, int to,
                                      int tag, int flags, pt_request *request) {
    return pt_begin(team, PT_SEND_ENTRY, flags, to, tag, data, n_bytes, request);
}

PT_MESSAGE_FUNCTION int pt_begin_recv(pt_slot *team, void *data, int64_t n_bytes, int from, int tag,
                                      int flags, pt_request *request) {
    return pt_begin(team, PT_RECV_ENTRY, flags, from, tag, data, n_bytes, request);
}

PT_MESSAGE_FUNCTION void pt_fill_status(pt_status *status, int source, int tag, int64_t n_bytes) {
    if (status == 0)
        return;
    status->source = source;
    status->tag = tag;
    status->n_bytes = n_bytes;
}

PT_MESSAGE_FUNCTION int pt_is_carried(const pt_slot *team, pt_request request) {
    return (team->carried >> request & 1) != 0;
}

/** The first lane sees what became of a request that is done: in the reply, which may be far away,
 * by one look at all of it. */
PT_MESSAGE_FUNCTION void pt_take_reply(pt_slot *team, pt_request request) {
    if (pt_is_carried(team, request)) {
        team->got.source = team->rank;
        team->got.tag = team->sent[request].tag;
        team->got.n_bytes = team->sent[request].n_bytes;
        team->got.n_carried = 0;
    } else {
        team->got = team->reply[request];
    }
    team->open &= ~(1u << request);
}

/** Give back a request that is done, whose reply is there, with the message that it brings; what
 * lies beside the replies makes room there for the next one. */
PT_MESSAGE_FUNCTION void pt_end_request(pt_slot *team, pt_request *request, pt_status *status) {
    if (PT_LANE == 0)
        pt_take_reply(team, *request);
    PT_TEAM_SYNC;
    const pt_reply *got = &team->got;
    const int is_beside = got->n_carried > PT_REPLY_BYTES;
    pt_copy(team->buffer[*request], is_beside ? team->payload : (const char *)got->data,
            got->n_carried);
    pt_fill_status(status, got->source, got->tag, got->n_bytes);
    PT_TEAM_SYNC;
    if (PT_LANE == 0)
        team->n_payloads += (uint64_t)is_beside;
    *request = PT_NO_REQUEST;
}

PT_MESSAGE_FUNCTION int pt_finish(pt_slot *team, pt_request *request, pt_status *status) {
    if (*request == PT_NO_REQUEST) {
        pt_fill_status(status, PT_ANY, PT_ANY, 0);
        return pt_is_ending(team);
    }
    if (!pt_is_carried(team, *request) &&
        pt_await_all(team, &team->reply[*request].commit, team->awaited[*request]))
        return 1;
    pt_end_request(team, request, status);
    return 0;
}

PT_MESSAGE_FUNCTION int pt_is_replied(const pt_slot *team, pt_request request) {
    return PT_LOAD_ACQUIRE(&team->reply[request].commit) >= team->awaited[request];
}

PT_MESSAGE_FUNCTION int pt_look(pt_slot *team, pt_request *request, int *is_done,
                                pt_status *status) {
    int is_there = 1;
    if (*request == PT_NO_REQUEST) {
        pt_fill_status(status, PT_ANY, PT_ANY, 0);
    } else {
        if (PT_LANE == 0 && !pt_is_replied(team, *request))
            PT_NOTIFY_LOOK(team, &team->reply[*request].commit);
        if (PT_LANE == 0)
            team->result = pt_is_replied(team, *request);
        is_there = pt_share_result(team);
        if (is_there)
            pt_end_request(team, request, status);
    }
    *is_done = is_there;
    return pt_is_ending(team);
}

PT_MESSAGE_FUNCTION int pt_send_now(pt_slot *team, const void *data, int64_t n_bytes, int to,
                                    int tag, int flags) {
    pt_request request;
    return pt_begin_send(team, data, n_bytes, to, tag, flags, &request) ||
           pt_finish(team, &request, 0);
}

PT_MESSAGE_FUNCTION int pt_recv_now(pt_slot *team, void *data, int64_t n_bytes, int from, int tag,
                                    int flags, pt_status *status) {
    pt_request request;
    return pt_begin_recv(team, data, n_bytes, from, tag, flags, &request) ||
           pt_finish(team, &request, status);
}

/** The data leaves before any comes. */
PT_MESSAGE_FUNCTION int pt_exchange(pt_slot *team, void *data, int64_t n_bytes, int to, int from,
                                    int tag, pt_status *status) {
    return pt_send_now(team, data, n_bytes, to, tag, PT_BUFFERED) ||
           pt_recv_now(team, data, n_bytes, from, tag, 0, status);
}

/** Whether a rank is one of the launch, on the device of this slot. */
PT_MESSAGE_FUNCTION int pt_is_here(const pt_slot *team, int rank) {
    const pt_ring *ring = team->ring;
    return rank >= 0 && rank < ring->n_ranks &&
           (ring->part_of == 0 || ring->part_of[rank] == ring->part_of[team->rank]);
}

PT_MESSAGE_FUNCTION int pt_may_write(const pt_memory *memory, const void *at, int64_t n_bytes) {
    return memory->is_written && pt_lies_in(at, n_bytes, memory->begin, memory->end);
}

/** Where the first element of a view lies: no two arrays of a launch begin at the same address,
 * though their elements with all indices 0 may be at one. */
PT_MESSAGE_FUNCTION const char *pt_find_begin(const void *at, int n_dims, const int64_t *first,
                                              const uint64_t *stride) {
    uint64_t offset_bytes = 0;
    for (int d = 0; d < n_dims; d++)
        offset_bytes += (uint64_t)first[d] * stride[d];
    return pt_behind(at, offset_bytes);
}

/** Where a slot of another device has the element of an array whose address would be this one here;
 * 0: nowhere that this slot may write. */
PT_MESSAGE_FUNCTION void *pt_find_far(const pt_slot *team, int to, const char *begin, void *at,
                                      int64_t n_bytes) {
    const pt_ring *ring = team->ring;
    const int is_far = to >= 0 && to < ring->n_ranks && ring->far != 0 && ring->part_of[to] >= 0;
    for (int m = 0; m < ring->n_memories && is_far; m++) {
        const pt_far_memory *far = &ring->far[ring->part_of[to] * ring->n_memories + m];
        void *there = (void *)(uintptr_t)((uint64_t)(uintptr_t)at + far->shift);
        if (ring->memory[m].begin == begin && pt_may_write(&far->memory, there, n_bytes))
            return there;
    }
    return 0;
}

/** Where a put to a slot goes; 0: nowhere. */
PT_MESSAGE_FUNCTION void *pt_find_target(const pt_slot *team, int to, const char *begin, void *at,
                                         int64_t n_bytes) {
    const pt_ring *ring = team->ring;
    if (!pt_is_here(team, to))
        return pt_find_far(team, to, begin, at, n_bytes);
    for (int m = 0; m < ring->n_memories; m++)
        if (pt_may_write(&ring->memory[m], at, n_bytes))
            return at;
    return 0;
}

/** Put to where the address of an element says, in the array that begins there here. Each lane
 * copies what others may have stored. */
PT_MESSAGE_FUNCTION int pt_put_bytes(pt_slot *team, int to, const char *begin, void *at,
                                     const void *data, int64_t n_bytes) {
    PT_TEAM_SYNC;
    void *target = pt_find_target(team, to, begin, at, n_bytes);
    if (target == 0)
        return pt_refuse(team, PT_PUT_ENTRY, 0, to, 0, at, n_bytes);
    pt_copy(target, data, n_bytes);
    return pt_is_ending(team);
}

/** Let the server add to a word of the launch, after all that the lanes have stored. */
PT_MESSAGE_FUNCTION void pt_ask_to_count(pt_slot *team, pt_kind kind, int peer, int tag) {
    if (PT_LANE == 0)
        pt_make_entry(team, kind, 0, peer, tag, 0, 0);
    pt_put_entry(team);
    PT_TEAM_SYNC;
}

/** The first lane adds to a count of some parts, which are on linked devices. */
PT_MESSAGE_FUNCTION void pt_count_far(const pt_slot *team, int64_t number, int first, int last) {
    for (int p = first; p <= last; p++)
        PT_ADD_FAR(&team->ring->far_count[p][number], 1);
}

/** Add to a count of the parts from first to last, after all that the lanes have stored; kind, peer
 * and tag say the same to the server. */
PT_MESSAGE_FUNCTION void pt_count_up(pt_slot *team, int64_t number, int first, int last,
                                     pt_kind kind, int peer, int tag) {
    const pt_ring *ring = team->ring;
    PT_TEAM_SYNC;
    if (ring->part_of != 0 && ring->far_count == 0) {
        pt_ask_to_count(team, kind, peer, tag);
    } else if (PT_LANE == 0 && ring->far_count != 0) {
        pt_count_far(team, number, first, last);
    } else if (PT_LANE == 0) {
        PT_ADD(&ring->count[number], 1);
        PT_NOTIFY(team, &ring->count[number]);
    }
}

PT_MESSAGE_FUNCTION int pt_refuse_signal(pt_slot *team, int to, int signal) {
    return pt_refuse(team, PT_SIGNAL_ENTRY, 0, to, signal, 0, 0);
}

PT_MESSAGE_FUNCTION int pt_signal_slot(pt_slot *team, int to, int signal) {
    if (to < 0 || to >= team->ring->n_ranks || signal < 0 || signal >= PT_MAX_SIGNALS)
        return pt_refuse_signal(team, to, signal);
    const int part = team->ring->part_of == 0 ? 0 : team->ring->part_of[to];
    pt_count_up(team, to * PT_MAX_SIGNALS + signal, part, part, PT_GIVE_ENTRY, to, signal);
    return pt_is_ending(team);
}

PT_MESSAGE_FUNCTION int pt_await_signal(pt_slot *team, int signal, int64_t n_times) {
    if (signal < 0 || signal >= PT_MAX_SIGNALS || n_times < 0)
        return pt_refuse_signal(team, team->rank, signal);
    return pt_await_all(team, &team->ring->count[team->rank * PT_MAX_SIGNALS + signal],
                        (uint64_t)n_times);
}

/** The first lane tells the server something that is no message. */
PT_MESSAGE_FUNCTION void pt_tell(pt_slot *slot, pt_kind kind, const uint64_t *word,
                                 uint64_t wanted) {
    pt_make_entry(slot, kind, 0, slot->rank, 0, word, (int64_t)wanted);
    slot->place = pt_take_place(slot);
    if (slot->place == PT_NO_PLACE)
        return;
    pt_fill_place(slot, 0, 1);
    pt_commit(slot);
}

#endif
