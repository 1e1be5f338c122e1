#ifndef POLYTILE_LAUNCH_PEERS_NEWER_H
#define POLYTILE_LAUNCH_PEERS_NEWER_H

#include "launch/device/execution.h"
#include "launch/peers/peers.h"

#include <stdint.h>

/* What linked devices have in a newer version than the host's memory, of arrays over the same
 * memory. Each publishes that of itself whenever its queue is done with something; nothing runs on
 * it while others pull, which so find it as it was published. */

/** Elements of an array that a device has newer than the host. */
typedef struct pti_newer {
    uintptr_t origin; /* in host memory, of the element whose indices are 0 */
    int64_t stride_bytes[POLYTILE_MAX_DIMS];
    pti_boxes boxes;          /* owned */
    int64_t offset_bytes;     /* in the device's memory, as the layout */
    pti_memory_layout layout; /* of the image that has them */
} pti_newer;

void pti_newer_free(int n_newer, pti_newer *newer);

/** Return where the elements of an array's image lie in host memory; boxes are empty. */
pti_newer pti_newer_of(const polytile_array *array);

/** Replace what a device published, which becomes the peers'; NULL with some of it: memory ran
 * out, and nobody can pull. The device has peers. */
void pti_peers_publish(polytile_device *device, int n_newer, pti_newer *newer);

/** Return whether a placement of an array has memory of an image that the device published, and is
 * not that image's: what others may be copying would be lost. */
bool pti_peers_would_overwrite(polytile_device *device, const polytile_array *array,
                               const pti_placement *placement);

/** Note where a device's memory is, before it is used. */
void pti_peers_note_arena(polytile_device *device, char *arena);

/** Let the device's uploads take from others what these have newer, or no more. */
void pti_peers_set_pulling(polytile_device *device, bool is_pulling);
bool pti_peers_is_pulling(const polytile_device *device);

/** Submit a copy from another device's memory. */
typedef polytile_status pti_newer_copy(void *of, polytile_device *from, const pti_move *move);

/**
 * Submit copies of what others have newer of an upload's box.
 *
 * rest: gets what the host has as new. Errors: NO_MEMORY, those of copy.
 */
polytile_status pti_peers_pull(pti_execution *execution, const pti_command *command,
                               pti_newer_copy *copy, void *of, pti_boxes *rest);

#endif
