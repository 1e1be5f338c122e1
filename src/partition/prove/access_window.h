#ifndef POLYTILE_PARTITION_PROVE_ACCESS_WINDOW_H
#define POLYTILE_PARTITION_PROVE_ACCESS_WINDOW_H

#include "access/footprint/instance.h"

/* What most operands are used through are windows: in each dimension of the array lo .. hi, moved
 * along with one index of the threads. Then one window is around all sections, found once for an
 * instance, from which a box for some threads follows at once. */

/** Sections of an operand by what they do. */
typedef enum pti_access_kind {
    PTI_ACCESS_TOUCHED, /* all */
    PTI_ACCESS_READ,    /* but for those of a reduction that starts from the identity */
    PTI_ACCESS_WRITTEN,
    PTI_N_ACCESS_KINDS
} pti_access_kind;

bool pti_section_is_of(const pti_section *section, pti_access_kind part);

/** Around the sections of a part. */
typedef struct pti_access_window {
    bool is_known; /* false: some section is no window, or two follow different indices */
    int n_sections;
    int followed[POLYTILE_MAX_DIMS]; /* the index that a dimension follows, -1: none */
    int64_t lo[POLYTILE_MAX_DIMS], hi[POLYTILE_MAX_DIMS];
} pti_access_window;

enum { PTI_ACCESS_WINDOW_SLOTS = 64 };

/** Windows of instances that were asked for last. Zero-initialise. */
typedef struct pti_access_windows {
    struct {
        const pti_instance *instance;
        pti_access_window *window; /* [operand * PTI_N_ACCESS_KINDS + part]; owned */
    } slot[PTI_ACCESS_WINDOW_SLOTS];
} pti_access_windows;

/** The windows of an instance's operands, PTI_N_ACCESS_KINDS each, until the next call; NULL when memory
 * runs out. */
const pti_access_window *pti_access_windows_of(pti_access_windows *windows,
                                               const pti_instance *instance);
void pti_access_windows_free(pti_access_windows *windows);

/** The window's box for some threads, which is around all that they touch, and nothing but that if
 * it is of one section. False if it is not known, or nothing of it is in the array. */
bool pti_access_window_box(const pti_access_window *window, const polytile_domain *array,
                           const polytile_domain *threads, polytile_domain *box);

#endif
