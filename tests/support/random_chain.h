#ifndef POLYTILE_TESTS_SUPPORT_RANDOM_CHAIN_H
#define POLYTILE_TESTS_SUPPORT_RANDOM_CHAIN_H

#include "support/generic_kernel.h"
#include "support/random.h"

#include <deque>
#include <string>
#include <vector>

/* Random arrays, kernels over them, and steps of launches that may often be interleaved slab by
 * slab: stencils of all reaches, rows and stripes, updates and copies, staggered pairs, three
 * arrays in turn, reductions, and tables that are read in part or written in part. */

/** How large things become. */
struct RandomChainShape {
    int64_t most_along[3] = {60, 20,
                             9}; /* elements along a dimension of arrays of one, two, three */
    int64_t times_longer = 1;    /* the first dimension, now and then */
    int odd_percent = 15;        /* of reads: steps, tables, triangles and the like */
    int reduction_percent = 12;  /* of kernels */
    int parameter_percent = 0;   /* of kernels have parameters */
};

class RandomChain {
  public:
    struct Field {
        std::vector<int64_t> extents;
        int64_t element_bytes;
        bool is_internal;
    };
    struct Kernel {
        int n_indices;
        std::vector<FieldUse> uses;
        GenericKernel generic; /* which has the parameters */
    };
    struct Launch {
        int kernel;
        polytile_domain threads;
    };

    RandomChain(Random *random, const RandomChainShape &shape);
    RandomChain(const RandomChain &) = delete;
    RandomChain &operator=(const RandomChain &) = delete;

    const std::vector<Field> &fields() const { return fields_; }
    const std::deque<Kernel> &kernels() const { return kernels_; }
    /** Of the arrays that kernels use. */
    int64_t data_bytes() const;
    int64_t n_used() const;

    /** The launches of one step, to be repeated. */
    std::vector<Launch> step();
    /** Any kernel over any of the threads that it may have. */
    Launch any();
    /** One to begin with: where kernels share a table, it fills a part of that. */
    Launch first();

    /** "generic[i]: in a[i-1]; out b[i] on fields 2 0 over 1:9" */
    std::string text_of(const Launch &launch) const;

  private:
    using MakeKernel = std::vector<FieldUse> (RandomChain::*)();

    bool is_used(int field) const;
    int field(std::vector<int64_t> extents, bool may_be_internal);
    void make_fields();
    int line(int dim) const { return n_whole_ + dim; }
    int any_whole() { return static_cast<int>(random_->number(0, n_whole_ - 1)); }
    int any_dim() { return static_cast<int>(random_->number(0, n_dims_ - 1)); }
    int64_t extent(int field, size_t dim) const {
        return fields_[static_cast<size_t>(field)].extents[dim];
    }

    GenericWindow window(int index, int64_t reach);
    GenericWindow nothing(int index);
    GenericWindow part_of(int64_t extent);
    GenericSection around(int64_t reach);
    GenericSection one_sided(int64_t lo, int64_t hi);
    GenericSection read();
    GenericSection row(bool is_written);
    FieldUse table();
    void add_reads(int written, std::vector<FieldUse> *uses);

    std::vector<FieldUse> stencil();
    std::vector<FieldUse> two_results();
    std::vector<FieldUse> rows();
    std::vector<FieldUse> stripes();
    std::vector<FieldUse> scatter();
    std::vector<FieldUse> product();
    std::vector<FieldUse> reduction();
    std::vector<FieldUse> fill_table();
    std::vector<FieldUse> fill_line();

    int add(int n_indices, std::vector<FieldUse> uses);
    std::vector<GenericParameter> parameters(std::vector<FieldUse> *uses);
    int add_any();
    void turn(std::vector<FieldUse> *uses);
    void make_pattern();
    polytile_domain choose_threads(int kernel);
    void narrow(polytile_range *range);

    Random *random_;
    RandomChainShape shape_;
    int n_dims_;
    int n_whole_ = 0; /* fields of all dimensions come first, then a line a dimension */
    int single_ = 0, table_ = 0, plane_ = 0, sums_ = 0, wide_ = 0;
    bool is_square_;
    bool is_tabular_; /* now and then all kernels read parts of a table that is partly written */
    bool is_turned_;  /* now and then kernels name their indices in another order than the arrays */
    std::vector<int64_t> extents_;
    std::vector<Field> fields_;
    std::deque<Kernel> kernels_;
    int filling_ = 0;          /* of an earlier kernel: it writes the table */
    std::vector<int> pattern_; /* kernels that belong together, in order; none: any do */
};

#endif
