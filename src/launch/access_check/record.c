#include "launch/access_check/record.h"

#include "base/checked.h"

#include <polytile/record.h>
#include <stdlib.h>
#include <string.h>

enum { NOWHERE_BYTES = 4096 };

static _Thread_local pti_record *current;
/** What stands for elements beyond all copies. */
static _Thread_local _Alignas(64) unsigned char nowhere[NOWHERE_BYTES];

static int64_t most_copied_bytes(const pti_record *record) {
    int64_t most_bytes = 0;
    for (int k = 0; k < record->n_copies; k++)
        most_bytes = pti_max(most_bytes, record->shadow[k].operand->element_bytes);
    return most_bytes;
}

void pti_record_confine(pti_record *record) {
    record->is_confined = most_copied_bytes(record) <= NOWHERE_BYTES;
}

pti_record *pti_record_set(pti_record *record) {
    pti_record *before = current;
    current = record;
    return before;
}

/** Record an address; false: it is in none of the copies. */
static bool note_address(pti_record *record, const unsigned char *address) {
    for (int k = 0; k < record->n_copies; k++) {
        const pti_shadow_copy *shadow = &record->shadow[k];
        int64_t element_bytes = shadow->operand->element_bytes;
        uintptr_t first = (uintptr_t)shadow->memory.bytes;
        if ((uintptr_t)address >= first &&
            (uintptr_t)address < first + (uintptr_t)(shadow->n_elements * element_bytes)) {
            record->touched[k][(int64_t)((uintptr_t)address - first) / element_bytes] = 1;
            return true;
        }
    }
    return false;
}

void *polytile_record_access(const void *address) {
    if (current == NULL)
        return (void *)(uintptr_t)address;
    current->n_calls++;
    const bool is_inside = note_address(current, address);
    return is_inside || !current->is_confined ? (void *)(uintptr_t)address : nowhere;
}

polytile_status pti_record_make(polytile_context *ctx, int n_copies, const pti_shadow_copy *shadow,
                                pti_record *record) {
    bool has_all = true;
    memset(nowhere, 0, sizeof nowhere);
    *record = (pti_record){.n_copies = n_copies, .shadow = shadow};
    record->touched = calloc((size_t)n_copies, sizeof *record->touched);
    for (int k = 0; record->touched != NULL && k < n_copies; k++) {
        record->touched[k] = calloc((size_t)shadow[k].n_elements, 1);
        has_all = has_all && record->touched[k] != NULL;
    }
    if (record->touched != NULL && has_all)
        return POLYTILE_OK;
    pti_record_free(record);
    return pti_fail_memory(ctx, "a record of accesses", PTI_UNKNOWN_BYTES);
}

void pti_record_free(pti_record *record) {
    for (int k = 0; record->touched != NULL && k < record->n_copies; k++)
        free(record->touched[k]);
    free(record->touched);
    record->touched = NULL;
}
