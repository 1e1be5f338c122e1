#ifndef POLYTILE_MESSAGE_CALL_H
#define POLYTILE_MESSAGE_CALL_H

/*
 * The calls of message.h, which includes this, for every device: what differs is in message_host.h,
 * and in message_spin.h with message_cuda.h. All lanes of a team call them with the same arguments; the first lane speaks to the
 * server. In every function the barriers before and behind what the first lane does let all lanes
 * see the same, and none go on too soon.
 */

PT_MESSAGE_FUNCTION pt_entry pt_make_entry(pt_kind kind, int flags, int peer, int tag,
                                           const void *data, int64_t n_bytes) {
    pt_entry entry = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0, 0, 0}};
    entry.kind = (uint8_t)kind;
    entry.flags = (uint8_t)flags;
    entry.peer = peer;
    entry.tag = tag;
    entry.address = (uint64_t)(uintptr_t)data;
    entry.n_bytes = n_bytes;
    return entry;
}

/* Words of any type. */
typedef struct pt_line {
    uint64_t first, second;
} __attribute__((aligned(16), may_alias)) pt_line;

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

/** Copy by one lane. */
PT_MESSAGE_FUNCTION void pt_copy_few(void *to, const void *from, int64_t n_bytes) {
    for (int64_t k = 0; k < n_bytes; k++)
        ((char *)to)[k] = ((const char *)from)[k];
}

#define PT_NO_PLACE UINT64_MAX

/** Take the next place of the ring, once what was there is taken; none: the launch is being
 * ended. */
PT_MESSAGE_FUNCTION uint64_t pt_take_place(pt_slot *team) {
    const pt_ring *ring = team->ring;
    const uint64_t place = PT_ADD(ring->head, 1);
    if (place >= ring->n_entries && PT_AWAIT_CREDIT(team, place - ring->n_entries + 1))
        return PT_NO_PLACE;
    return place;
}

PT_MESSAGE_FUNCTION void pt_commit_entry(pt_slot *team, const pt_entry *entry, uint64_t place) {
    pt_entry *at = &team->ring->entry[place & (team->ring->n_entries - 1)];
    at->slot = (uint16_t)team->rank;
    at->n_payloads = (uint16_t)team->n_payloads;
    at->kind = entry->kind;
    at->flags = entry->flags;
    at->request = entry->request;
    at->peer = entry->peer;
    at->tag = entry->tag;
    at->address = entry->address;
    at->n_bytes = entry->n_bytes;
    for (int k = 0; k < PT_ENTRY_BYTES / 8; k++)
        at->data[k] = entry->data[k];
    PT_STORE_RELEASE(&at->commit, place + 1);
    PT_NOTIFY(team, 0);
}

/** All lanes put an entry that carries more than fits it: the data are beside it. */
PT_MESSAGE_FUNCTION void pt_put_payload(pt_slot *team, const pt_entry *entry) {
    const pt_ring *ring = team->ring;
    if (PT_LANE == 0)
        team->place = pt_take_place(team);
    PT_TEAM_SYNC;
    const uint64_t place = team->place;
    if (place != PT_NO_PLACE)
        pt_copy(ring->payload + (place & (ring->n_entries - 1)) * PT_PAYLOAD_BYTES,
                (const void *)(uintptr_t)entry->address, entry->n_bytes);
    PT_TEAM_SYNC;
    if (PT_LANE == 0 && place != PT_NO_PLACE)
        pt_commit_entry(team, entry, place);
}

/** All lanes put an entry, but for its commit, which is its number. */
PT_MESSAGE_FUNCTION void pt_put_entry(pt_slot *team, pt_entry *entry) {
    if ((entry->flags & PT_CARRIED) != 0 && entry->n_bytes > PT_ENTRY_BYTES) {
        pt_put_payload(team, entry);
        return;
    }
    if (PT_LANE != 0)
        return;
    const uint64_t place = pt_take_place(team);
    if ((entry->flags & PT_CARRIED) != 0)
        pt_copy_few(entry->data, (const void *)(uintptr_t)entry->address, entry->n_bytes);
    if (place != PT_NO_PLACE)
        pt_commit_entry(team, entry, place);
}

/** The first lane's result, for all. */
PT_MESSAGE_FUNCTION int pt_share_result(pt_slot *team) {
    PT_TEAM_SYNC;
    const int result = team->result;
    PT_TEAM_SYNC;
    return result;
}

/** Wait until a word is as large as wanted. */
PT_MESSAGE_FUNCTION int pt_await_all(pt_slot *team, const uint64_t *word, uint64_t wanted) {
    if (PT_LANE == 0)
        team->result = PT_AWAIT(team, word, wanted);
    return pt_share_result(team);
}

/** Tell the server of a call that it must refuse, and wait for the end of the launch. */
PT_MESSAGE_FUNCTION int pt_refuse(pt_slot *team, pt_entry *entry) {
    PT_TEAM_SYNC;
    pt_put_entry(team, entry);
    pt_await_all(team, team->ring->ending, 1);
    return 1;
}

PT_MESSAGE_FUNCTION int pt_is_ending(pt_slot *team) {
    if (PT_LANE == 0)
        team->result = PT_IS_ENDING(team);
    return pt_share_result(team);
}

/** The first lane opens a request. */
PT_MESSAGE_FUNCTION void pt_open_request(pt_slot *team, const pt_entry *entry) {
    const int request = entry->request;
    team->open |= 1u << request;
    team->carried &= ~(1u << request);
    team->buffer[request] = (void *)(uintptr_t)entry->address;
    if ((entry->flags & PT_CARRIED) == 0) {
        team->awaited[request]++;
        return;
    }
    team->carried |= 1u << request;
    team->sent[request].source = team->rank;
    team->sent[request].tag = entry->tag;
    team->sent[request].n_bytes = entry->n_bytes;
    team->sent[request].n_carried = 0;
}

/** Begin a send or a receive; every lane finds the same free request. */
PT_MESSAGE_FUNCTION int pt_begin(pt_slot *team, pt_entry *entry, pt_request *request) {
    int free_one = 0;
    PT_TEAM_SYNC;
    while (free_one < PT_MAX_REQUESTS && (team->open >> free_one & 1) != 0)
        free_one++;
    PT_TEAM_SYNC;
    *request = PT_NO_REQUEST;
    if (free_one == PT_MAX_REQUESTS) {
        entry->kind = PT_REQUESTS_ENTRY;
        entry->flags &= (uint8_t)~PT_CARRIED;
        return pt_refuse(team, entry);
    }
    entry->request = (int16_t)free_one;
    *request = free_one;
    if (PT_LANE == 0)
        pt_open_request(team, entry);
    pt_put_entry(team, entry);
    return pt_is_ending(team);
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
    const char *stage = (const char *)team->stage;
    int is = n_bytes == 0 || pt_lies_in(data, n_bytes, stage, stage + sizeof team->stage);
    for (int m = 0; m < ring->n_memories; m++)
        is |= (ring->memory[m].is_written || !is_written) &&
              pt_lies_in(data, n_bytes, ring->memory[m].begin, ring->memory[m].end);
    return is;
}

/** Whether a message is short, and may be read. */
PT_MESSAGE_FUNCTION int pt_can_carry(const pt_slot *team, const void *data, int64_t n_bytes) {
    return pt_is_buffer(team, data, n_bytes, 0) && team->ring->payload != 0 &&
           n_bytes <= PT_PAYLOAD_BYTES;
}

/** Copy what a slot sends to itself: buffers are those of a send and a receive. */
PT_MESSAGE_FUNCTION int pt_copy_own(pt_slot *team, void *to, const void *from, int64_t n_bytes,
                                    int tag) {
    if (!pt_is_buffer(team, from, n_bytes, 0)) {
        pt_entry entry =
            pt_make_entry(PT_SEND_ENTRY, PT_COLLECTIVE, team->rank, tag, from, n_bytes);
        return pt_refuse(team, &entry);
    }
    if (!pt_is_buffer(team, to, n_bytes, 1)) {
        pt_entry entry = pt_make_entry(PT_RECV_ENTRY, PT_COLLECTIVE, team->rank, tag, to, n_bytes);
        return pt_refuse(team, &entry);
    }
    pt_copy(to, from, n_bytes);
    return 0;
}

PT_MESSAGE_FUNCTION int pt_begin_send(pt_slot *team, const void *data, int64_t n_bytes, int to,
                                      int tag, int flags, pt_request *request) {
    const int carries = pt_can_carry(team, data, n_bytes) ? PT_CARRIED : 0;
    pt_entry entry = pt_make_entry(PT_SEND_ENTRY, flags | carries, to, tag, data, n_bytes);
    return pt_begin(team, &entry, request);
}

PT_MESSAGE_FUNCTION int pt_begin_recv(pt_slot *team, void *data, int64_t n_bytes, int from, int tag,
                                      int flags, pt_request *request) {
    pt_entry entry = pt_make_entry(PT_RECV_ENTRY, flags, from, tag, data, n_bytes);
    return pt_begin(team, &entry, request);
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

/** The first lane sees what became of a request that is done, and takes what its reply carries; the
 * reply, which may be far away, by one look at all of it. */
PT_MESSAGE_FUNCTION void pt_take_reply(pt_slot *team, pt_request request) {
    if (pt_is_carried(team, request)) {
        team->got = team->sent[request];
    } else {
        const pt_reply reply = team->reply[request];
        team->got.source = reply.source;
        team->got.tag = reply.tag;
        team->got.n_bytes = reply.n_bytes;
        team->got.n_carried = reply.n_carried;
        if (reply.n_carried <= PT_REPLY_BYTES)
            pt_copy_few(team->buffer[request], reply.data, reply.n_carried);
    }
    team->open &= ~(1u << request);
}

/** All lanes take a message that lies beside the replies, where the next one may come then. */
PT_MESSAGE_FUNCTION void pt_take_payload(pt_slot *team, pt_request request) {
    pt_copy(team->buffer[request], team->payload, team->got.n_carried);
    PT_TEAM_SYNC;
    if (PT_LANE == 0)
        team->n_payloads++;
}

/** Give back a request that is done, whose reply is there. */
PT_MESSAGE_FUNCTION void pt_end_request(pt_slot *team, pt_request *request, pt_status *status) {
    if (PT_LANE == 0)
        pt_take_reply(team, *request);
    PT_TEAM_SYNC;
    if (team->got.n_carried > PT_REPLY_BYTES)
        pt_take_payload(team, *request);
    pt_fill_status(status, team->got.source, team->got.tag, team->got.n_bytes);
    PT_TEAM_SYNC;
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

PT_MESSAGE_FUNCTION int pt_may_put(const pt_ring *ring, const char *at, int64_t n_bytes, int to) {
    int may = 0;
    for (int m = 0; m < ring->n_memories && to >= 0 && to < ring->n_ranks; m++)
        may |= ring->memory[m].is_written &&
               pt_lies_in(at, n_bytes, ring->memory[m].begin, ring->memory[m].end);
    return may;
}

PT_MESSAGE_FUNCTION int pt_put_bytes(pt_slot *team, int to, void *at, const void *data,
                                     int64_t n_bytes) {
    if (!pt_may_put(team->ring, (const char *)at, n_bytes, to)) {
        pt_entry entry = pt_make_entry(PT_PUT_ENTRY, 0, to, 0, at, n_bytes);
        return pt_refuse(team, &entry);
    }
    pt_copy(at, data, n_bytes);
    return pt_is_ending(team);
}

/** Add to a word of the launch, behind all that the lanes have stored. */
PT_MESSAGE_FUNCTION void pt_count_up(pt_slot *team, uint64_t *word) {
    PT_TEAM_SYNC;
    if (PT_LANE == 0) {
        PT_ADD(word, 1);
        PT_NOTIFY(team, word);
    }
}

PT_MESSAGE_FUNCTION int pt_refuse_signal(pt_slot *team, int to, int signal) {
    pt_entry entry = pt_make_entry(PT_SIGNAL_ENTRY, 0, to, signal, 0, 0);
    return pt_refuse(team, &entry);
}

PT_MESSAGE_FUNCTION int pt_signal_slot(pt_slot *team, int to, int signal) {
    if (to < 0 || to >= team->ring->n_ranks || signal < 0 || signal >= PT_MAX_SIGNALS)
        return pt_refuse_signal(team, to, signal);
    pt_count_up(team, &team->ring->count[to * PT_MAX_SIGNALS + signal]);
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
    const pt_entry entry = pt_make_entry(kind, 0, slot->rank, 0, word, (int64_t)wanted);
    const uint64_t place = pt_take_place(slot);
    if (place != PT_NO_PLACE)
        pt_commit_entry(slot, &entry, place);
}

#endif
