#ifndef POLYTILE_PLAN_H
#define POLYTILE_PLAN_H

#include <polytile/array.h>
#include <polytile/declaration.h>
#include <polytile/witness.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The value of a declaration's parameter in one launch. */
typedef struct polytile_parameter {
    const char *name;
    int64_t value;
} polytile_parameter;

/** What a plan assumes of the device and its link to the host; all in bytes, seconds and bytes per
 * second. */
typedef struct polytile_link {
    double upload_bytes_per_s;
    double download_bytes_per_s;
    double duplex_bytes_per_s; /* each way, when both are busy */
    double transfer_latency_s; /* of one operation */
    double run_overhead_bytes; /* what each short contiguous run of a strided transfer costs on top,
                                  where runs begin 64 KiB or more apart; less where closer, or
                                  longer */
    double launch_latency_s;   /* of one sub-kernel */
    double kernel_bytes_per_s; /* footprint bytes that a kernel goes through */
    double kernel_accesses_per_s; /* element accesses of threads, at most, out of whatever cache or
                                     register; 0: not known, taken as no bound */
    double cache_bytes;           /* of the device's last cache; 0: not known, taken as none */
    double cache_bytes_per_s;     /* footprint bytes that a kernel goes through which lie in it */
} polytile_link;

/** The link assumed where none is given: one NVIDIA H200 on PCIe 5 x16, as measured in
 * docs/ceilings.md. */
extern const polytile_link polytile_link_default;

/** How to plan; zero or NULL in a member means its default. */
typedef struct polytile_plan_options {
    int64_t limit_bytes; /* device memory, all buffers included; 0: as the device, or none */
    const char
        *strategy; /* "min-time" (default), "min-traffic", "min-kernels", "paper", of which the
                             last two never fuse launches */
    int n_buffers; /* superblocks in flight: 1, 2, 3; 0: chosen by the strategy */
    const int64_t *block; /* threads of a block, one number an index; NULL: chosen */
    int n_parameters;
    const polytile_parameter *parameters; /* exactly those of the declaration, in any order */
    const polytile_link *link;            /* NULL: polytile_link_default */
    int64_t
        launches_per_pass; /* chains: the most launches that one pass over the data runs; 1: each
                                  by itself, 0: chosen */
} polytile_plan_options;

/** The sub-kernels of one or several launches, their order, and what moves when; immutable. */
typedef struct polytile_plan polytile_plan;

/**
 * Plan the sub-kernels of one launch so that each fits the device.
 *
 * Shapes  domain: one range per index of the kernel, step 1. Superblocks are boxes of whole blocks
 *         (clipped to the domain), pairwise disjoint, and together cover the domain.
 * Units   limit in bytes, all buffers in flight included; superblock extents in blocks.
 * Errors  NO_FIT (one block alone needs more than the limit; the text names each array's share and
 *         what would help), CONFLICT (two threads write one element, or one writes what another
 *         reads; the text names a witness), DECLARATION (a section outside its array, wrong number
 *         of dimensions, a parameter without a value), INVALID, OVERFLOW, UNSUPPORTED (more
 *         sub-kernels than 262,144, or transfers that take too long to plan), NO_MEMORY.
 * Owns    The plan copies what it needs of kernel, domain and arrays, except the kernel's
 *         implementation. The context owns the plan, which polytile_plan_destroy() can end sooner;
 *         on error *plan is NULL.
 * Source  Torres et al., section IV; docs/planning.md says where this library differs.
 */
polytile_status polytile_plan_create(const polytile_kernel *kernel, const polytile_domain *domain,
                                     polytile_array *const *arrays,
                                     const polytile_plan_options *options, polytile_plan **plan);

/** One of several launches that are planned together. */
typedef struct polytile_chain_launch {
    const polytile_kernel *kernel;
    polytile_domain domain;
    polytile_array *const *arrays; /* one an operand, in the declaration's order */
} polytile_chain_launch;

/**
 * Plan launches together, as a queue does that holds them all: where their declarations allow it,
 * slabs of the arrays are run through many launches while they are on the device. The list is cut
 * into portions as a queue cuts it; what comes again is planned once.
 *
 * Shapes  scratch: arrays that nobody wrote before, and that do not matter afterwards: internal
 *         arrays of a queue, destroyed behind the launches.
 *         options: parameters are those of all kernels, each takes its own; block has as many
 *         numbers as every kernel has indices, and counts only where launches are not fused;
 *         n_buffers is not used. In place, without a limit, nothing is fused.
 * Errors  As polytile_plan_create(); INVALID (no launches, another number of contexts than one, a
 *         parameter that no kernel has, one array for two operands of which one is written);
 *         UNSUPPORTED (more than 1,000,000 sub-kernels, those that come again counted once, or
 *         262,144 of launches that are not fused).
 * Owns    As polytile_plan_create().
 * Source  docs/time_skewing.md
 */
polytile_status polytile_plan_create_chain(int n_launches, const polytile_chain_launch *launches,
                                           int n_scratch, polytile_array *const *scratch,
                                           const polytile_plan_options *options,
                                           polytile_plan **plan);

void polytile_plan_destroy(polytile_plan *plan);

/**
 * Prove that a launch of the kernel over the domain has no conflict and touches only its arrays.
 *
 * Errors  As polytile_plan_create(), without NO_FIT: the text names the array, a witness thread and
 *         an element, and polytile_last_witness() has them as data. UNSUPPORTED: isl cannot tell.
 */
polytile_status polytile_check(const polytile_kernel *kernel, const polytile_domain *domain,
                               polytile_array *const *arrays, const polytile_plan_options *options);

/**
 * Prove of each of several launches what polytile_check() proves of one, and of all together that
 * none reads an element that has no value yet: of a scratch array, one that no launch before wrote.
 *
 * Shapes  As polytile_plan_create_chain(). Which launches are planned together does not matter.
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
    int n_launches;      /* 1, or those of a chain; then the kernel and all that is said of
                                  threads are those of the launch with the most of them */
    int64_t launches_per_pass; /* that run while the data goes through the device once */
    int64_t n_passes;          /* in which that happens */
    int64_t slab_threads;      /* chains: launches take turns in slabs of so many threads along an
                             index; 0: they do not, each runs whole before the next */
} polytile_plan_summary;

void polytile_plan_get_summary(const polytile_plan *plan, polytile_plan_summary *summary);

/** The threads of the k-th superblock in run order, 0 <= k < n_kernels. Errors: INVALID. */
polytile_status polytile_plan_get_superblock(const polytile_plan *plan, int64_t k,
                                             polytile_domain *threads);

typedef enum polytile_format { POLYTILE_TEXT, POLYTILE_JSON, POLYTILE_SVG } polytile_format;

/** The plan as text for people, JSON for programs, or an SVG picture. Owns: the caller frees *text
 * with free(). */
polytile_status polytile_plan_to_string(const polytile_plan *plan, polytile_format format,
                                        char **text);

#ifdef __cplusplus
}
#endif

#endif
