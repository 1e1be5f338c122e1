#ifndef POLYTILE_RECORD_H
#define POLYTILE_RECORD_H

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Record that a kernel reaches for an element, while polytile_check_use() runs it in this thread.
 *
 * PT_AT calls it in bodies that are compiled with POLYTILE_RECORD_ACCESS defined. Returns the
 * address.
 */
void *polytile_record_access(const void *address);

#ifdef __cplusplus
}
#endif

#endif
