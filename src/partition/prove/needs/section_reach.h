#ifndef POLYTILE_PARTITION_PROVE_NEEDS_SECTION_REACH_H
#define POLYTILE_PARTITION_PROVE_NEEDS_SECTION_REACH_H

#include "access/footprint/instance.h"

/* Most sections have a reach: in each dimension of the array lo .. hi, moved along with one index
 * of the threads. Then one reach contains all sections of an operand. It is found once for an
 * instance and gives the box of any threads at once. */

/** Sections of an operand by what they do. */
typedef enum pti_access_kind {
    PTI_ACCESS_TOUCHED, /* all */
    PTI_ACCESS_READ,    /* but for those of a reduction that starts from the identity */
    PTI_ACCESS_WRITTEN,
    PTI_N_ACCESS_KINDS
} pti_access_kind;

bool pti_section_is_of(const pti_section *section, pti_access_kind kind);

/** The reach that contains all sections of a kind. */
typedef struct pti_section_reach {
    bool is_known; /* false: a section has none, or two follow different indices */
    int n_sections;
    int followed[POLYTILE_MAX_DIMS]; /* the index that a dimension follows, -1: none */
    int64_t lo[POLYTILE_MAX_DIMS], hi[POLYTILE_MAX_DIMS];
} pti_section_reach;

enum { PTI_SECTION_REACH_BUCKETS = 64 };

/** The reaches of the instances that were asked for last; those that share operands and sections,
 * and differ in threads, are one. Zero-initialise. */
typedef struct pti_section_reaches {
    struct {
        const pti_operand *operand;
        const pti_section *section;
        int n_operands;
        pti_section_reach *reach; /* [operand * PTI_N_ACCESS_KINDS + kind]; owned */
    } bucket[PTI_SECTION_REACH_BUCKETS];
} pti_section_reaches;

/** Return the reaches of an instance's operands, PTI_N_ACCESS_KINDS each, until the next call;
 * NULL when memory runs out. */
const pti_section_reach *pti_section_reaches_of(pti_section_reaches *reaches,
                                                const pti_instance *instance);
void pti_section_reaches_free(pti_section_reaches *reaches);

/** Find the box that contains all that some threads touch; of one section it holds nothing else.
 * False if the reach is not known, or none of the box is in the array. */
bool pti_section_reach_box(const pti_section_reach *reach, const polytile_domain *array,
                           const polytile_domain *threads, polytile_domain *box);

#endif
