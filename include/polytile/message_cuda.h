#ifndef POLYTILE_MESSAGE_CUDA_H
#define POLYTILE_MESSAGE_CUDA_H

/*
 * What message_call.h needs of a thread block, which is a team of all its threads. Words are
 * loaded, and stored, at system scope: those of the server are in the host's memory. Slots add at
 * the GPU's scope where all who add are on it, and else at system scope. docs/messages.md argues
 * from PTX's memory consistency model.
 */
#include <polytile/message_ring.h>

#define PT_LANE      ((int)threadIdx.x)
#define PT_LANES     ((int)blockDim.x)
#define PT_TEAM_SYNC __syncthreads()

/* Whether any lane says so, for all: a barrier, too. */
#define PT_TEAM_OR(value) __syncthreads_or(value)

#define PT_LOAD_RELAXED(word)         pt_load_relaxed(word)
#define PT_LOAD_ACQUIRE(word)         pt_load_acquire(word)
#define PT_STORE_RELEASE(word, value) pt_store_release(word, value)
#define PT_ADD(word, value)           pt_add(word, value)
#define PT_ADD_FAR(word, value)       pt_add_far(word, value)
#define PT_ADD_RELAXED(word, value)   pt_add_relaxed(word, value)

/* The slot of a thread block, in its shared memory. */
#define PT_DEFINE_TEAM(far)                                                                        \
    __shared__ pt_near pt_near_slot;                                                               \
    pt_slot *const pt_team = pt_bring_near(&pt_near_slot, far)

/* The first looks are as fast as they can be; later ones leave the bus to others, up to 4 us. */
#define PT_PAUSE(n_looks)                                                                          \
    if ((n_looks) > PT_LOOKS_UNTOLD)                                                               \
    __nanosleep((n_looks) < 512 ? (n_looks)*8 : 4096)

static __device__ __forceinline__ uint64_t pt_load_relaxed(const uint64_t *word) {
    uint64_t value;
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(word));
    return value;
}

static __device__ __forceinline__ uint64_t pt_load_acquire(const uint64_t *word) {
    uint64_t value;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
    return value;
}

static __device__ __forceinline__ void pt_store_release(uint64_t *word, uint64_t value) {
    asm volatile("st.release.sys.global.u64 [%0], %1;" : : "l"(word), "l"(value) : "memory");
}

static __device__ __forceinline__ uint64_t pt_add(uint64_t *word, uint64_t value) {
    uint64_t before;
    asm volatile("atom.acq_rel.gpu.global.add.u64 %0, [%1], %2;"
                 : "=l"(before)
                 : "l"(word), "l"(value)
                 : "memory");
    return before;
}

/** Add to a word to which slots of linked GPUs add, too; who adds does not wait for the link. */
static __device__ __forceinline__ void pt_add_far(uint64_t *word, uint64_t value) {
    asm volatile("red.release.sys.global.add.u64 [%0], %1;" : : "l"(word), "l"(value) : "memory");
}

/** Add without an order. */
static __device__ __forceinline__ uint64_t pt_add_relaxed(uint64_t *word, uint64_t value) {
    uint64_t before;
    asm volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], %2;"
                 : "=l"(before)
                 : "l"(word), "l"(value)
                 : "memory");
    return before;
}

/** A slot with the ring and the lists that it looks through at each call, if they are short. */
enum { PT_NEAR_MEMORIES = 16, PT_NEAR_PARTS = 8, PT_NEAR_RANKS = 256 };
typedef struct pt_near {
    pt_slot slot;
    pt_ring ring;
    pt_memory memory[PT_NEAR_MEMORIES];
    pt_far_memory far[PT_NEAR_MEMORIES];
    uint64_t *far_count[PT_NEAR_PARTS];
    int32_t part_of[PT_NEAR_RANKS];
} pt_near;

/** All lanes copy a list, if it is there and short; the first one notes where it is then. */
#define PT_BRING_LIST(near, list, n, n_most)                                                       \
    do {                                                                                           \
        const int pt_n = (near)->ring.list == 0 || (n) > (n_most) ? 0 : (int)(n);                  \
        for (int pt_k = PT_LANE; pt_k < pt_n; pt_k += PT_LANES)                                    \
            (near)->list[pt_k] = (near)->ring.list[pt_k];                                          \
        PT_TEAM_SYNC;                                                                              \
        if (PT_LANE == 0 && pt_n > 0)                                                              \
            (near)->ring.list = (near)->list;                                                      \
    } while (0)

static __device__ __forceinline__ pt_slot *pt_bring_near(pt_near *near, const pt_slot *far) {
    if (PT_LANE == 0) {
        near->slot = *far;
        near->ring = *far->ring;
        near->slot.ring = &near->ring;
    }
    PT_TEAM_SYNC;
    const int n_memories = near->ring.n_memories, n_parts = near->ring.n_parts;
    PT_BRING_LIST(near, memory, n_memories, PT_NEAR_MEMORIES);
    PT_BRING_LIST(near, far, n_memories * n_parts, PT_NEAR_MEMORIES);
    PT_BRING_LIST(near, far_count, n_parts, PT_NEAR_PARTS);
    PT_BRING_LIST(near, part_of, near->ring.n_ranks, PT_NEAR_RANKS);
    PT_TEAM_SYNC;
    return &near->slot;
}

#endif
