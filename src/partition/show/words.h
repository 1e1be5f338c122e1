#ifndef POLYTILE_PARTITION_SHOW_WORDS_H
#define POLYTILE_PARTITION_SHOW_WORDS_H

#include "base/text.h"
#include "partition/window/plan.h"
#include "partition/window/plan_chain.h"

/* partition/show: plans as text, JSON and pictures; what plans of several members are printed with,
 * too. Nothing here decides anything. print.h has the printers, page.h and panel.h what pictures
 * consist of, and here are the words that texts and pictures share. */

/** Words by value, so that they can stand among the arguments of a format:
 * pti_words_size(n).text. */
typedef struct pti_words {
    char text[64 * POLYTILE_MAX_DIMS + 128]; /* a box, and a few words beside it */
} pti_words;

/** Words by a format; without their end where they are too long. */
pti_words pti_words_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** A size: "64 MiB". */
pti_words pti_words_size(int64_t n_bytes);

/** A number with separated thousands. */
pti_words pti_words_number(int64_t number);

/** "1 kernel", "12,000 kernels"; the noun takes an s. */
pti_words pti_words_count(int64_t count, const char *noun);

/** Extents as on the command line: "32x8". */
pti_words pti_words_extents(int n_dims, const int64_t *extents);

/** A box of blocks: "103x5 blocks", "1 block". */
pti_words pti_words_blocks(int n_dims, const int64_t *extents);

/** A box as in a declaration: "[0:63, 7]". */
pti_words pti_words_box(const polytile_domain *box);

/** A duration with a fitting unit: "1.25 ms". */
pti_words pti_words_seconds(double seconds);

/** An element type: "f32", or "12 B" for raw bytes. */
pti_words pti_words_type(polytile_type type);

/** How the bytes of a plan compare with the lower bound: "1.052". */
pti_words pti_words_ratio(const polytile_plan_summary *summary);

/** An operand with its type and what the kernel does to it, each role once: "A f32, in". */
pti_words pti_words_operand(const pti_instance *instance, int operand);

/** What the kernels of a plan do to an array, each role once, and whether it is scratch. */
pti_words pti_words_array_roles(const polytile_plan *plan, int array);

/** The threads of a superblock: "superblock 3: threads [0:63]". */
pti_words pti_words_superblock(const pti_schedule *schedule, int64_t superblock);

/** Write the names of a chain's kernels, each once: "predict, correct". */
void pti_write_kernels(pti_text *text, const pti_launches *launches);

/** The index along which those with the most threads of interleaved launches are cut: "i". */
const char *pti_slab_index(const pti_fusion_group *interleaved);

/** The bytes of the placements that a superblock's launch uses; 0 in place. */
int64_t pti_superblock_device_bytes(const pti_schedule *schedule, int64_t superblock);

/** What a superblock holds of an array: of all the one for which the hull is largest. */
typedef struct pti_pieces_held {
    int n_pieces;       /* 1: it is held in one */
    int64_t held_bytes; /* of all pieces */
    int64_t hull_bytes; /* of the box around them */
} pti_pieces_held;

/** Find it for an array of a plan; of a chain's that no launch has in pieces, without bytes. */
pti_pieces_held pti_pieces_held_of(const polytile_plan *plan, int array);

#endif
