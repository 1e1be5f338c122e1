#ifndef POLYTILE_PLAN_H
#define POLYTILE_PLAN_H

#include <polytile/launch.h>
#include <polytile/witness.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The sub-kernels of one or several launches, their order, and all transfers; immutable. */
typedef struct polytile_plan polytile_plan;

/**
 * Plan the sub-kernels of one launch so that each fits the device.
 *
 * Shapes  domain: one range per index of the kernel; arrays: n_arrays of them, in the order
 *         of polytile_kernel_get_array_name(): POLYTILE_ARRAYS(x, y, z). Superblocks are boxes of
 *         whole blocks (clipped to the domain), pairwise disjoint, and together cover the domain.
 * Units   limit in bytes, all buffers in flight included; superblock extents in blocks.
 * Errors  NO_FIT (one block alone needs more than the limit; the text names each array's share and
 *         what would help), CONFLICT (two threads write one element, or one writes what another
 *         reads, or an array is given for two names that share an element which one writes; the
 *         text names a witness), DECLARATION (a section outside its array, wrong number of
 *         dimensions, a parameter without a value), INVALID, OVERFLOW, UNSUPPORTED (more
 *         sub-kernels than 262,144 that do not repeat, or transfers that take too long to plan),
 *         NO_MEMORY.
 * Owns    The plan copies what it needs of kernel, domain and arrays, except the kernel's
 *         implementation. The context owns the plan, which polytile_plan_destroy() can end sooner;
 *         on error *plan is NULL.
 * Source  Torres et al., section IV; docs/planning.md says where this library differs.
 */
polytile_status polytile_plan_create(const polytile_kernel *kernel, const polytile_domain *domain,
                                     int n_arrays, polytile_array *const *arrays,
                                     const polytile_launch_options *options, polytile_plan **plan);

/**
 * Plan launches together, as a queue does that has them all. Where their declarations allow it,
 * slabs of the arrays stay on the device for many launches. The list is cut into fusion groups as a
 * queue cuts it; a group that comes again is planned once.
 *
 * Shapes  scratch: arrays without contents before and after, as internal arrays of a queue that are
 *         destroyed after the launches. options: block has as many numbers as every kernel has
 *         indices, and counts only where launches are not fused; n_buffers is not used. In place,
 *         without a limit, nothing is fused.
 * Errors  As polytile_plan_create(); INVALID (no launches, another number of contexts than one);
 *         UNSUPPORTED (more than 1,000,000 sub-kernels, repeated ones counted once, or 262,144 of
 *         launches that are not fused).
 * Owns    As polytile_plan_create().
 * Source  docs/time_skewing.md
 */
polytile_status polytile_plan_create_chain(int n_launches, const polytile_chain_launch *launches,
                                           int n_scratch, polytile_array *const *scratch,
                                           const polytile_plan_options *options,
                                           polytile_plan **plan);

/** End a plan; NULL does nothing. */
void polytile_plan_destroy(polytile_plan *plan);

/**
 * Prove that a launch of the kernel over the domain has no conflict and touches only its arrays.
 *
 * Errors  As polytile_plan_create(), without NO_FIT: the text names the array, a witness thread and
 *         an element, and polytile_last_witness() has them as data. UNSUPPORTED: isl cannot tell.
 */
polytile_status polytile_check(const polytile_kernel *kernel, const polytile_domain *domain,
                               int n_arrays, polytile_array *const *arrays,
                               const polytile_launch_options *options);

/**
 * Prove for each launch what polytile_check() proves for one, and that none reads an element of a
 * scratch array that no launch before it wrote.
 *
 * Shapes  As polytile_plan_create_chain().
 * Errors  As polytile_plan_create_chain(), without NO_FIT; DECLARATION also for an element without
 *         a value; the text names the launch, and polytile_last_witness() has it as data.
 */
polytile_status polytile_check_chain(int n_launches, const polytile_chain_launch *launches,
                                     int n_scratch, polytile_array *const *scratch,
                                     const polytile_plan_options *options);

/** The figures of a plan. */
typedef struct polytile_plan_summary {
    const char *kernel;
    const char *strategy;
    int n_dims;
    int n_buffers;
    int64_t limit_bytes; /* 0: none, the launch runs in place */
    int64_t peak_device_bytes;
    int64_t block[POLYTILE_MAX_DIMS];             /* threads */
    int64_t grid_blocks[POLYTILE_MAX_DIMS];       /* blocks */
    int64_t superblock_blocks[POLYTILE_MAX_DIMS]; /* blocks of the largest superblock */
    int64_t n_kernels;
    int64_t h2d_bytes;
    int64_t d2h_bytes;
    int64_t lower_bound_bytes; /* no plan can move less, both ways together */
    double predicted_seconds;
    double plan_seconds;
    int64_t lower_bound_h2d_bytes; /* no plan can upload less */
    int64_t bound_bytes; /* what uploads, and results that begin on the device instead of being
                            uploaded, come to together in every plan; docs/bounds.md */
    const char *bound;   /* which bound that is, and of what: "matmul-like (A, B, C): ..."; "" in
                            place; lives as long as the plan */
    int64_t reserved[4]; /* zeros */
} polytile_plan_summary;

/** Get the figures of a plan. If it has several launches, the kernel, and the figures of threads,
 * are those of the launch with the most threads. */
void polytile_plan_get_summary(const polytile_plan *plan, polytile_plan_summary *summary);

/** How the launches of a plan are fused; for a single launch 1, 1, 1 and 0. */
typedef struct polytile_chain_summary {
    int n_launches;
    int64_t launches_per_pass; /* that run while the data goes through the device once */
    int64_t n_passes;          /* in which that happens */
    int64_t slab_threads; /* launches are interleaved in slabs of this many threads along an index;
                                  0: they are not, each runs whole before the next */
    int64_t reserved[4];  /* zeros */
} polytile_chain_summary;

/** Get what a plan of several launches is like; all zero for one of polytile_plan_create(). */
void polytile_plan_get_chain_summary(const polytile_plan *plan, polytile_chain_summary *summary);

/** Get the threads of the k-th superblock in run order, 0 <= k < n_kernels; k counts through all
 * launches of the plan. Errors: INVALID. */
polytile_status polytile_plan_get_superblock(const polytile_plan *plan, int64_t k,
                                             polytile_domain *threads);

typedef enum polytile_format {
    POLYTILE_TEXT,
    POLYTILE_JSON,
    POLYTILE_SVG, /* not of traces */
    POLYTILE_HTML /* of traces alone */
} polytile_format;

/** Write the plan as text for people, JSON for programs, or an SVG picture. Owns: the caller frees
 * *text with free(). */
polytile_status polytile_plan_to_string(const polytile_plan *plan, polytile_format format,
                                        char **text);

#ifdef __cplusplus
}
#endif

#endif
