#ifndef POLYTILE_TESTS_PARTITION_SKEW_RANDOM_SKEW_H
#define POLYTILE_TESTS_PARTITION_SKEW_RANDOM_SKEW_H

#include "partition/memory/resident_memory.h"
#include "support/launch.h"
#include "support/random_chain.h"

#include <memory>

extern "C" {
#include "partition/skew/chain.h"
#include "partition/skew/memory.h"
#include "partition/skew/skew.h"
}

/* Random chains as the planner of time skewing takes them, with real bytes: what the host has, and
 * what it should have. */

using Bytes = std::vector<std::vector<unsigned char>>; /* of each array, in C order */

/** A device that runs generic kernels, on streams that interleave at random. */
class ChainMemory {
  public:
    explicit ChainMemory(int64_t arena_bytes) : arena_(static_cast<size_t>(arena_bytes), 0x5a) {}

    /** Run a schedule whose launches are of these kernels. What went wrong, "" if nothing. */
    std::string Run(const pti_schedule &schedule, const std::vector<const GenericKernel *> &kernels,
                    Bytes *host, Random *random);

  private:
    unsigned char *Address(int64_t placement, const int64_t *element);
    unsigned char *HostAddress(int array, const int64_t *element);
    void Move(const pti_op &op);
    void Launch(const pti_op &op, const GenericKernel &kernel);

    std::vector<unsigned char> arena_;
    const pti_schedule *schedule_ = nullptr;
    Bytes *host_ = nullptr;
    std::string wrong_;
};

/** Launches, of which those before a chain have run, and those from there on are to be skewed. */
class RandomSkew {
  public:
    explicit RandomSkew(Random *random, const RandomChainShape &shape = {});
    ~RandomSkew();
    RandomSkew(const RandomSkew &) = delete;
    RandomSkew &operator=(const RandomSkew &) = delete;

    /** The launches of the chain, none if no two may be interleaved; one a line. */
    std::string text() const;
    const pti_chain &chain() const { return chain_; }
    /** A request for some arena. */
    pti_skew_request Request(int64_t arena_bytes);
    int64_t data_bytes() const { return made_.data_bytes(); }
    int64_t n_used() const { return made_.n_used(); }

    /** Run a schedule of the chain from what the host has now. What went wrong, or which array
     * holds something wrong then; "" if nothing is. */
    std::string Try(const pti_schedule &schedule, Random *random) const;

  private:
    struct Instance {
        RandomChain::Launch launch;
        std::unique_ptr<::Launch> made;
        std::vector<int> array;
    };

    void MakeArrays();
    const Instance &InstanceOf(const RandomChain::Launch &launch);
    void Add(const RandomChain::Launch &launch);
    void RunPlainly(const RandomChain::Launch &launch, Bytes *on) const;
    void Begin(size_t n_before);
    void NoteWritten(const Instance &of, std::vector<Elements> *written) const;
    std::string Compare(const pti_schedule &schedule, const Bytes &is, const Bytes &right) const;
    Bytes RunChain() const;

    Random *random_;
    RandomChain made_;
    std::vector<pti_operand> operands_;
    std::vector<std::string> names_;
    pti_instance arrays_ = {};
    std::deque<Instance> instances_;
    std::vector<const Instance *> launches_;
    size_t first_ = 0; /* of the chain */
    std::vector<pti_cut_launch> cut_;
    std::vector<pti_boxes> unwritten_;
    std::vector<char> dropped_;
    Bytes before_, should_; /* what the host holds, and what the elements are */
    pti_chain chain_ = {};
};

/** A shape for a chain, cut in any way: few rows, short laps, so that images slide, passes of any
 * length, and concurrent slabs. */
inline pti_skew_shape AnyShape(const pti_chain &chain, Random *random) {
    pti_skew_shape shape = {};
    shape.n_per_pass = static_cast<int>(random->number(1, chain.n_launches));
    shape.n_passes = (chain.n_launches + shape.n_per_pass - 1) / shape.n_per_pass;
    shape.slab = random->number(1, random->chance(70) ? 4 : 30);
    shape.n_per_lap = random->number(1, random->chance(70) ? 3 : 20);
    shape.concurrent = random->chance(50);
    return shape;
}

/** The arena that it takes. */
inline int64_t ArenaOf(const pti_chain &chain, const pti_skew_shape &shape) {
    pti_skew_need *needs = pti_skew_needs(&chain, shape.n_per_pass);
    const int64_t n_bytes =
        pti_skew_bytes(needs, pti_skew_n_images(&chain), shape.slab, shape.n_per_lap);
    free(needs);
    return n_bytes;
}

#endif
