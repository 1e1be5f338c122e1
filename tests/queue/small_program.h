#ifndef POLYTILE_TESTS_QUEUE_SMALL_PROGRAM_H
#define POLYTILE_TESTS_QUEUE_SMALL_PROGRAM_H

#include "queue/twin.h"

#include <string>
#include <vector>

/**
 * A random program of small arrays, which members of a queue seldom share evenly, or at all:
 * extents of 1, 2, and primes, all roles, kernels that write several arrays, sections of all
 * directions and widths, some of which stay where they are whatever the thread, parameters,
 * internal arrays, waits and detaching in between. In some the arrays have up to 2 KB, and a device
 * of as little holds a part of them.
 */
class SmallProgram {
  public:
    struct Options {
        bool is_long = false; /* all arrays have one dimension, of dozens to hundreds of elements */
        bool writes_several = false; /* kernels do */
        bool has_parameters = false; /* most kernels have */

        static Options draw(Random *random);
    };

    explicit SmallProgram(Random *random) : SmallProgram(random, Options::draw(random)) {}
    SmallProgram(Random *random, const Options &options) : random_(random), options_(options) {}

    /** Run it on a queue, and compare it with plain loops. Returns the launches it ran. */
    int64_t run(const std::string &devices, const TwinPlace &place);

  private:
    void add_fields(Twin *twin);
    void add_long_fields(Twin *twin);
    void add_field(Twin *twin, const std::vector<int64_t> &extents, int64_t element_bytes);
    std::vector<int64_t> draw_threads();
    void add_results(std::vector<FieldUse> *uses, std::vector<int64_t> *n_threads);
    bool add_kernel(Twin *twin);
    std::vector<GenericParameter> draw_parameters(std::vector<FieldUse> *uses);
    void step(Twin *twin);
    polytile_domain choose_threads(const std::vector<int64_t> &n_threads);
    bool is_taken(int field, const std::vector<FieldUse> &uses) const;
    int draw_field(const std::vector<FieldUse> &uses);
    FieldUse draw_use(int field, std::vector<int64_t> *n_threads);
    GenericSection draw_result(int field, std::vector<int64_t> *n_threads);
    GenericSection draw_section(int field, const std::vector<int64_t> &n_threads, bool is_wide);
    GenericWindow draw_window(int64_t extent, const std::vector<int64_t> &n_threads, bool is_wide);
    GenericWindow follow(int index, int64_t extent, int64_t n_threads);
    GenericWindow stay(int64_t extent);

    struct Kernel {
        int number;
        std::vector<int64_t> n_threads; /* of each index, from 0 on */
    };

    Random *random_;
    Options options_;
    std::vector<std::vector<int64_t>> fields_;
    std::vector<Kernel> kernels_;
};

/** Let host functions of a place's kernels begin late now and then, by a drawn time of at most
 * `most_us`, so that members overtake each other. */
class Delays {
  public:
    explicit Delays(int64_t most_us) : most_us_(most_us) {}
    void add_to(TwinPlace *place);

  private:
    struct Delayed {
        polytile_implementation inner;
        int64_t most_us;
    };

    int64_t most_us_;
    std::deque<Delayed> delayed_;
};

#endif
