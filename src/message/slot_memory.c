#include "message/slot_memory.h"

#include "message/state.h"
#include <polytile/message.h>

#include <stdlib.h>
#include <string.h>

/** Parts lie in lines of the caches. */
enum { LINE_BYTES = 64 };

_Static_assert(sizeof(pt_entry) == LINE_BYTES, "an entry is a line");
_Static_assert(sizeof(pt_reply) == LINE_BYTES, "a reply is a line");
_Static_assert((int)PT_PAYLOAD_BYTES == (int)PT_EAGER_BYTES, "what is carried waits for nobody");

/** Slots put a wait and a request at most before they look for an answer; some more let them go
 * on. */
enum { ENTRIES_A_SLOT = 4, LEAST_ENTRIES = 64 };

static uint64_t n_entries_in_tests;

void pti_slot_memory_set_entries(uint64_t n_entries) {
    n_entries_in_tests = n_entries;
}

static uint64_t count_entries(int n_slots) {
    uint64_t n_entries = LEAST_ENTRIES;
    if (n_entries_in_tests > 0)
        return n_entries_in_tests;
    while (n_entries < (uint64_t)n_slots * ENTRIES_A_SLOT)
        n_entries *= 2;
    return n_entries;
}

/** Where each part of the two blocks begins, in bytes, and where they end. */
typedef struct layout {
    size_t words, entries, replies, reply_payloads, payloads, shared_end;
    size_t ring, memories, head, n_taken_seen, counts, slots, stages, slots_end;
} layout;

/** Take a part after another one. */
static size_t place_part(size_t *end, size_t n, size_t bytes) {
    const size_t begin = *end;
    *end += (n * bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    return begin;
}

static layout lay_out_slots(int n_slots, int n_memories, bool is_far) {
    const size_t n = (size_t)n_slots, n_entries = count_entries(n_slots);
    layout of = {0};
    of.words = place_part(&of.shared_end, 1, sizeof(pti_slot_words));
    of.entries = place_part(&of.shared_end, n_entries, sizeof(pt_entry));
    of.replies = place_part(&of.shared_end, n * PT_MAX_REQUESTS, sizeof(pt_reply));
    of.reply_payloads = place_part(&of.shared_end, is_far ? n : 0, PT_PAYLOAD_BYTES);
    of.payloads = place_part(&of.shared_end, is_far ? n_entries : 0, PT_PAYLOAD_BYTES);
    of.ring = place_part(&of.slots_end, 1, sizeof(pt_ring));
    of.memories = place_part(&of.slots_end, (size_t)n_memories, sizeof(pt_memory));
    of.head = place_part(&of.slots_end, 1, sizeof(uint64_t));
    of.n_taken_seen = place_part(&of.slots_end, 1, sizeof(uint64_t));
    of.counts = place_part(&of.slots_end, n * PT_MAX_SIGNALS + 1, sizeof(uint64_t));
    of.slots = place_part(&of.slots_end, n, sizeof(pt_slot));
    of.stages = place_part(&of.slots_end, n, PTI_STAGES_BYTES);
    return of;
}

pti_server_bytes pti_server_count_bytes(const pti_server *server, int n_memories) {
    const layout of = lay_out_slots(server->n_slots, n_memories, true);
    return (pti_server_bytes){(int64_t)of.shared_end, (int64_t)of.slots_end};
}

/** The ring, of which `slots` is where the slots' own memory is for them. */
static pt_ring make_ring(const pti_server *server, const layout *of, char *shared, char *slots,
                         int n_memories) {
    pti_slot_words *words = (pti_slot_words *)(void *)(shared + of->words);
    return (pt_ring){.entry = (pt_entry *)(void *)(shared + of->entries),
                     .n_entries = count_entries(server->n_slots),
                     .payload = server->device != NULL ? shared + of->payloads : NULL,
                     .n_taken = &words->n_taken,
                     .ending = &words->ending,
                     .head = (uint64_t *)(void *)(slots + of->head),
                     .n_taken_seen = (uint64_t *)(void *)(slots + of->n_taken_seen),
                     .count = (uint64_t *)(void *)(slots + of->counts),
                     .memory = (const pt_memory *)(void *)(slots + of->memories),
                     .n_memories = n_memories,
                     .n_ranks = server->n_slots};
}

static void fill_slots(pti_server *server, const layout *of, char *image, char *slots) {
    char *payload = server->payload;
    pt_slot *slot = (pt_slot *)(void *)(image + of->slots);
    memcpy(image + of->ring, &server->ring, sizeof server->ring);
    for (int rank = 0; rank < server->n_slots; rank++) {
        slot[rank].ring = (const pt_ring *)(const void *)(slots + of->ring);
        slot[rank].reply = &server->reply[rank * PT_MAX_REQUESTS];
        slot[rank].payload = payload == NULL ? NULL : payload + (size_t)rank * PT_PAYLOAD_BYTES;
        slot[rank].server = server->device == NULL ? server : NULL;
        slot[rank].stage = slots + of->stages + (size_t)rank * PTI_STAGES_BYTES;
        slot[rank].rank = rank;
    }
}

static void *allocate_zeros(size_t n_bytes) {
    void *memory = aligned_alloc(LINE_BYTES, n_bytes);
    if (memory != NULL)
        memset(memory, 0, n_bytes);
    return memory;
}

/** Take the blocks: those of a device are there, but for an image of the slots. */
static bool take_blocks(pti_server *server, const layout *of, char **shared, char **slots) {
    server->memory.slots = allocate_zeros(of->slots_end);
    *slots = server->memory.slots;
    if (server->device == NULL) {
        *shared = server->memory.shared = allocate_zeros(of->shared_end);
        return *shared != NULL && *slots != NULL;
    }
    *shared = server->device->shared;
    *slots = server->device->slots;
    memset(*shared, 0, of->reply_payloads);
    return server->memory.slots != NULL;
}

bool pti_slot_memory_create(pti_server *server, const pt_memory *memories, int n_memories) {
    const layout of = lay_out_slots(server->n_slots, n_memories, server->device != NULL);
    char *shared, *slots;
    if (!take_blocks(server, &of, &shared, &slots))
        return false;
    char *image = server->memory.slots;
    server->words = (pti_slot_words *)(void *)(shared + of.words);
    server->words->ending = server->is_ending;
    server->reply = (pt_reply *)(void *)(shared + of.replies);
    server->payload = server->device != NULL ? shared + of.reply_payloads : NULL;
    server->ring = make_ring(server, &of, shared, slots, n_memories);
    server->slot = (const pt_slot *)(void *)(slots + of.slots);
    server->stages = slots + of.stages;
    server->count = (uint64_t *)(void *)(image + of.counts);
    memcpy(image + of.memories, memories, (size_t)n_memories * sizeof *memories);
    fill_slots(server, &of, image, slots);
    server->ring.memory = (const pt_memory *)(void *)(image + of.memories);
    return server->device == NULL ||
           server->device->store(server->device->device, slots, image, (int64_t)of.slots_end);
}

void pti_slot_memory_free(pti_server *server) {
    free(server->memory.shared);
    free(server->memory.slots);
}
