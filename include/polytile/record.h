#ifndef POLYTILE_RECORD_H
#define POLYTILE_RECORD_H

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Note that a kernel reaches for an element, while polytile_check_use() runs it in this thread.
 *
 * Bodies that are compiled with POLYTILE_RECORD_ACCESS defined call it in PT_AT; others do not.
 * Returns the address.
 */
void *polytile_record_access(const void *address);

#ifdef __cplusplus
}
#endif

#endif
