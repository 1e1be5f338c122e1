#ifndef POLYTILE_PARTITION_SHOW_WORDS_H
#define POLYTILE_PARTITION_SHOW_WORDS_H

#include "access/footprint/instance.h"
#include "access/set/box_text.h"
#include "base/text.h"
#include "partition/window/plan.h"
#include "partition/window/plan_chain.h"

/* partition/show: plans as text, JSON and pictures. Nothing here decides anything. This header
 * has the phrases that texts and pictures share. */

/* The phrases that a plan's text and its picture share. */

/** Extents as on the command line: "32x8". */
void pti_words_extents(pti_text *text, int n_dims, const int64_t *extents);

/** A count with separated thousands in a buffer of at least 32 bytes, which it returns. */
char *pti_count_format(int64_t count, char *buffer);

/** "1 kernel", "12,000 kernels"; the noun takes an s. */
void pti_words_count(pti_text *text, int64_t count, const char *noun);

/** A box of blocks: "103x5 blocks", "1 block". */
void pti_words_blocks(pti_text *text, int n_dims, const int64_t *extents);

/** How the bytes of a plan compare with the lower bound: "1.052". */
void pti_words_ratio(pti_text *text, const polytile_plan_summary *summary);

/** How the uploads of a plan compare with its bound: "1.073 times 74 GiB, matmul-like ...". */
void pti_words_bound(pti_text *text, const polytile_plan_summary *summary);

/** A duration of seconds with a fitting unit: "1.25 ms". */
void pti_words_seconds(pti_text *text, double seconds);

/** An element type: "f32", or "12 B" for raw bytes. */
void pti_words_type(pti_text *text, polytile_type type);

/** An operand with its type and roles: "A f32, in". */
void pti_words_operand(pti_text *text, const pti_instance *instance, int operand);

/** What a kernel does to an operand, each role once: "in", "in, out", "out sum". */
void pti_words_roles(pti_text *text, const pti_instance *instance, int operand);

/** What the kernels of a plan do to an array, each role once, and whether it is scratch. */
void pti_words_array_roles(pti_text *text, const polytile_plan *plan, int array);

/** The names of a chain's kernels, each once: "predict, correct". */
void pti_words_kernels(pti_text *text, const pti_launches *launches);

/** The index along which those with the most threads of launches that take turns are cut: "i". */
const char *pti_words_slab_index(const pti_portion *turns);

/** The bytes of the placements that a superblock's launch uses; 0 in place. */
int64_t pti_superblock_device_bytes(const pti_schedule *schedule, int64_t superblock);

#endif
