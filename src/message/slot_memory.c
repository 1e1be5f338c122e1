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
    size_t words, entries, replies, served_counts, reply_payloads, payloads, shared_end;
    size_t ring, memories, part_of, far_counts, far, head, n_taken_seen, counts, slots, stages,
        slots_end;
} layout;

/** Take a part after another one. */
static size_t place_part(size_t *end, size_t n, size_t bytes) {
    const size_t begin = *end;
    *end += (n * bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    return begin;
}

/** Counts are the slots' own if they are all here; else the server adds for them, unless they turn
 * out to be on devices that are linked. What lies before the head is stored once more then. */
static layout lay_out_slots(const pti_server_part *part, int n_memories, bool is_far) {
    const pti_server *server = part->server;
    const size_t n = (size_t)part->n_slots, n_entries = count_entries(part->n_slots);
    const size_t n_counts = (size_t)pti_n_counts(server);
    const bool is_alone = server->part_of == NULL;
    layout of = {0};
    of.words = place_part(&of.shared_end, 1, sizeof(pti_slot_words));
    of.entries = place_part(&of.shared_end, n_entries, sizeof(pt_entry));
    of.replies = place_part(&of.shared_end, n * PT_MAX_REQUESTS, sizeof(pt_reply));
    const size_t n_others = is_alone || !is_far ? 0 : (size_t)server->n_parts;
    of.served_counts = place_part(&of.shared_end, is_alone ? 0 : n_counts, sizeof(uint64_t));
    of.reply_payloads = place_part(&of.shared_end, is_far ? n : 0, PT_PAYLOAD_BYTES);
    of.payloads = place_part(&of.shared_end, is_far ? n_entries : 0, PT_PAYLOAD_BYTES);
    of.ring = place_part(&of.slots_end, 1, sizeof(pt_ring));
    of.memories = place_part(&of.slots_end, (size_t)n_memories, sizeof(pt_memory));
    of.part_of = place_part(&of.slots_end, is_alone ? 0 : (size_t)server->n_slots, sizeof(int32_t));
    of.far_counts = place_part(&of.slots_end, n_others, sizeof(uint64_t *));
    of.far = place_part(&of.slots_end, n_others * (size_t)n_memories, sizeof(pt_far_memory));
    of.head = place_part(&of.slots_end, 1, sizeof(uint64_t));
    of.n_taken_seen = place_part(&of.slots_end, 1, sizeof(uint64_t));
    of.counts = place_part(&of.slots_end, is_alone || is_far ? n_counts : 0, sizeof(uint64_t));
    of.slots = place_part(&of.slots_end, n, sizeof(pt_slot));
    of.stages = place_part(&of.slots_end, n, PTI_STAGES_BYTES);
    return of;
}

pti_server_bytes pti_server_count_bytes(const pti_server_part *part, int n_memories) {
    const layout of = lay_out_slots(part, n_memories, true);
    return (pti_server_bytes){(int64_t)of.shared_end, (int64_t)of.slots_end};
}

/** The ring, of which `slots` is where the slots' own memory is for them. */
static pt_ring make_ring(const pti_server_part *part, const layout *of, char *shared, char *slots,
                         int n_memories) {
    const bool is_alone = part->server->part_of == NULL;
    char *counts = is_alone ? slots + of->counts : shared + of->served_counts;
    pti_slot_words *words = (pti_slot_words *)(void *)(shared + of->words);
    return (pt_ring){.entry = (pt_entry *)(void *)(shared + of->entries),
                     .n_entries = count_entries(part->n_slots),
                     .payload = part->device != NULL ? shared + of->payloads : NULL,
                     .n_taken = &words->n_taken,
                     .ending = &words->ending,
                     .head = (uint64_t *)(void *)(slots + of->head),
                     .n_taken_seen = (uint64_t *)(void *)(slots + of->n_taken_seen),
                     .count = (uint64_t *)(void *)counts,
                     .part_of = is_alone ? NULL : (const int32_t *)(void *)(slots + of->part_of),
                     .memory = (const pt_memory *)(void *)(slots + of->memories),
                     .n_memories = n_memories,
                     .n_ranks = part->server->n_slots,
                     .n_parts = part->server->n_parts};
}

static void fill_slots(pti_server_part *part, const layout *of, char *image, char *slots) {
    char *payload = part->payload;
    pt_slot *slot = (pt_slot *)(void *)(image + of->slots);
    memcpy(image + of->ring, &part->ring, sizeof part->ring);
    for (int k = 0; k < part->n_slots; k++) {
        slot[k].ring = (const pt_ring *)(const void *)(slots + of->ring);
        slot[k].reply = &part->reply[k * PT_MAX_REQUESTS];
        slot[k].payload = payload == NULL ? NULL : payload + (size_t)k * PT_PAYLOAD_BYTES;
        slot[k].server = part->device == NULL ? part->server : NULL;
        slot[k].stage = slots + of->stages + (size_t)k * PTI_STAGES_BYTES;
        slot[k].rank = part->rank[k];
    }
}

static void *allocate_zeros(size_t n_bytes) {
    void *memory = aligned_alloc(LINE_BYTES, n_bytes);
    if (memory != NULL)
        memset(memory, 0, n_bytes);
    return memory;
}

/** Take the blocks: those of a device are there, but for an image of the slots. */
static bool take_blocks(pti_server_part *part, const layout *of, char **shared, char **slots) {
    part->memory.slots = allocate_zeros(of->slots_end);
    *slots = part->memory.slots;
    if (part->device == NULL) {
        *shared = part->memory.shared = allocate_zeros(of->shared_end);
        return *shared != NULL && *slots != NULL;
    }
    *shared = part->device->shared;
    *slots = part->device->slots;
    memset(*shared, 0, of->reply_payloads);
    return part->memory.slots != NULL;
}

/** Fill what lies before the slots in their image. */
static void fill_lists(const pti_server_part *part, const layout *of, const pt_memory *memories,
                       int n_memories, char *image) {
    const pti_server *server = part->server;
    if (n_memories > 0)
        memcpy(image + of->memories, memories, (size_t)n_memories * sizeof *memories);
    if (server->part_of != NULL)
        memcpy(image + of->part_of, server->part_of,
               (size_t)server->n_slots * sizeof *server->part_of);
}

bool pti_slot_memory_create(pti_server_part *part, const pt_memory *memories, int n_memories) {
    const layout of = lay_out_slots(part, n_memories, part->device != NULL);
    const bool is_alone = part->server->part_of == NULL;
    char *shared, *slots;
    if (!take_blocks(part, &of, &shared, &slots))
        return false;
    char *image = part->memory.slots;
    part->words = (pti_slot_words *)(void *)(shared + of.words);
    part->words->ending = part->server->is_ending;
    part->reply = (pt_reply *)(void *)(shared + of.replies);
    part->payload = part->device != NULL ? shared + of.reply_payloads : NULL;
    part->ring = make_ring(part, &of, shared, slots, n_memories);
    part->slot = (const pt_slot *)(void *)(slots + of.slots);
    part->stages = slots + of.stages;
    part->counts_there =
        part->device != NULL ? (uint64_t *)(void *)(slots + of.counts) : part->ring.count;
    part->count = is_alone ? (uint64_t *)(void *)(image + of.counts) : part->ring.count;
    fill_lists(part, &of, memories, n_memories, image);
    fill_slots(part, &of, image, slots);
    part->ring.memory = (const pt_memory *)(void *)(image + of.memories);
    return part->device == NULL ||
           part->device->store(part->device->device, slots, image, (int64_t)of.slots_end);
}

/* Links. */

static bool do_reach(const pti_server_part *part, const pti_server_part *other) {
    return part != other && part->device != NULL && other->device != NULL &&
           part->device->reaches == other->device->reaches &&
           part->device->reaches(part->device->device, other->device->device);
}

/** Find what a part reaches, itself included. */
static void find_reached(pti_server_part *part) {
    const pti_server *server = part->server;
    part->reached = 0;
    for (int k = 0; k < server->n_parts && server->n_parts <= PTI_MOST_REACHED; k++)
        if (part == &server->part[k] || do_reach(part, &server->part[k]))
            part->reached |= UINT64_C(1) << k;
}

void pti_slot_memory_find_links(pti_server *server) {
    bool are_devices = server->processes == NULL && server->n_parts > 0;
    for (int k = 0; k < server->n_parts; k++) {
        pti_server_part *part = &server->part[k];
        find_reached(part);
        are_devices &=
            part->device != NULL && __builtin_popcountll(part->reached) == server->n_parts;
    }
    server->do_slots_count = are_devices;
}

/** Return whether elements of an operand are as far from one another in two views. */
static bool are_alike(const polytile_view *one, const polytile_view *other) {
    bool are = one->resident.n_dims == other->resident.n_dims;
    for (int d = 0; are && d < one->resident.n_dims; d++)
        are = one->stride_bytes[d] == other->stride_bytes[d];
    return are;
}

/** The memory of an operand on another device, as slots here see it. */
static pt_far_memory find_far(const pti_server_part *part, const pti_server_part *other, int m) {
    const polytile_view *view = &part->views[m], *far = &other->views[m];
    pt_far_memory found = {0};
    if (!are_alike(view, far))
        return found;
    found.shift = (uint64_t)(uintptr_t)far->origin - (uint64_t)(uintptr_t)view->origin;
    found.memory = other->ring.memory[m];
    return found;
}

/** Leave out, of the operands on another device, those that a put could take for one another: they
 * begin at the same address here, and do not lie as far from there. That happens where a part
 * touches no element of them, or where sections are oblique. */
static void drop_doubtful(const pti_server_part *part, pt_far_memory *far) {
    const pt_memory *here = part->ring.memory;
    for (int m = 0; m < part->ring.n_memories; m++)
        for (int o = 0; o < part->ring.n_memories; o++)
            if (here[m].begin == here[o].begin &&
                (far[m].shift != far[o].shift ||
                 (far[m].memory.end == NULL) != (far[o].memory.end == NULL)))
                far[m].memory = (pt_memory){0};
}

/** Fill what slots reach on other devices. */
static void fill_links(const pti_server_part *part, const layout *of, char *image) {
    const pti_server *server = part->server;
    const int n_memories = part->ring.n_memories;
    uint64_t **counts = (uint64_t **)(void *)(image + of->far_counts);
    pt_far_memory *far = (pt_far_memory *)(void *)(image + of->far);
    for (int k = 0; k < server->n_parts; k++) {
        const pti_server_part *other = &server->part[k];
        if ((part->reached >> k & 1) == 0)
            continue;
        counts[k] = server->do_slots_count ? other->counts_there : NULL;
        for (int m = 0; m < n_memories; m++)
            far[k * n_memories + m] = find_far(part, other, m);
        drop_doubtful(part, &far[k * n_memories]);
    }
}

/** The ring, as slots that reach other devices are to have it. */
static void link_ring(pti_server_part *part, const layout *of, char *image, char *slots) {
    pt_ring *ring = (pt_ring *)(void *)(image + of->ring);
    ring->far = (const pt_far_memory *)(const void *)(slots + of->far);
    if (!part->server->do_slots_count)
        return;
    ring->far_count = (uint64_t *const *)(const void *)(slots + of->far_counts);
    ring->count = part->ring.count = part->counts_there;
    part->count = (uint64_t *)(void *)(image + of->counts);
}

bool pti_slot_memory_link(pti_server_part *part) {
    if (pti_is_one_part(part->server) || (part->reached & (part->reached - 1)) == 0)
        return true;
    const pti_slot_device *device = part->device;
    const layout of = lay_out_slots(part, part->ring.n_memories, true);
    char *image = part->memory.slots;
    fill_links(part, &of, image);
    link_ring(part, &of, image, device->slots);
    return device->store(device->device, device->slots, image, (int64_t)of.head);
}

void pti_slot_memory_free(pti_server_part *part) {
    free(part->memory.shared);
    free(part->memory.slots);
}
