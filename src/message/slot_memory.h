#ifndef POLYTILE_MESSAGE_SLOT_MEMORY_H
#define POLYTILE_MESSAGE_SLOT_MEMORY_H

#include "message/server.h"

/* The memory that slots share with their server: one block of memory of the host, and one of the
 * slots' own. Of slots on the host both are the server's. Each part has its own. */

/** Words of the server, each in a line of its own; slots read them. */
typedef struct pti_slot_words {
    uint64_t n_taken;
    uint64_t reserved[7];
    uint64_t ending;
    uint64_t reserved_too[7];
} pti_slot_words;

/** Of each slot: two stages of a reduction. */
enum { PTI_STAGES_BYTES = 2 * PT_STAGE_BYTES };

/** What is to be freed. */
typedef struct pti_slot_memory {
    void *shared; /* NULL: a device's */
    char *slots;  /* the slots' own, or of a device an image of them */
} pti_slot_memory;

/** Make the ring and the slots of a part, whose memories must live as long. False when memory
 * runs out; of a device also when it cannot be reached. */
bool pti_slot_memory_create(pti_server_part *part, const pt_memory *memories, int n_memories);
void pti_slot_memory_free(pti_server_part *part);

/** Find out which parts reach each other's memory, when all have begun, and with that whether slots
 * count by themselves. */
void pti_slot_memory_find_links(pti_server *server);

/** Let the slots of a part know what they reach, before they run. False when the device cannot be
 * reached. */
bool pti_slot_memory_link(pti_server_part *part);

/** Let rings have so few entries, 2 or another power of 2, for tests; 0: as many as is good. */
void pti_slot_memory_set_entries(uint64_t n_entries);

#endif
