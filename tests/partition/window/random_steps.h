#ifndef POLYTILE_TESTS_PARTITION_WINDOW_RANDOM_STEPS_H
#define POLYTILE_TESTS_PARTITION_WINDOW_RANDOM_STEPS_H

#include "support/chain_launch.h"
#include "support/random.h"
#include "support/random_chain.h"

extern "C" {
#include "partition/window/fusion_group.h"
#include "partition/window/plan_chain.h"
}

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

inline polytile_type unsigned_of(int64_t n_bytes) {
    return n_bytes == 1   ? POLYTILE_U8
           : n_bytes == 2 ? POLYTILE_U16
           : n_bytes == 4 ? POLYTILE_U32
                          : POLYTILE_U64;
}

/** Random launches, as steps over a device of some memory; or, without memory, in place. */
class RandomSteps {
  public:
    RandomSteps(Random *random, int64_t share) : chain_(random, longer()) {
        polytile_context_create(&ctx_);
        for (const RandomChain::Field &field : chain_.fields())
            add_array(field);
        for (const RandomChain::Kernel &kernel : chain_.kernels())
            add_kernel(kernel);
        const std::vector<RandomChain::Launch> step = chain_.step();
        for (int64_t n = random->number(1, 8); n > 0; n--) {
            for (const RandomChain::Launch &which : step)
                add_launch(which);
            if (random->chance(20))
                add_launch(chain_.any());
        }
        options_.limit_bytes = share == 0 ? 0 : chain_.data_bytes() / share + 1024;
        make_window();
    }
    ~RandomSteps() {
        pti_residency_free(window.residency);
        pti_launches_free(&bound_);
        free(step_);
        polytile_context_destroy(ctx_);
    }
    RandomSteps(const RandomSteps &) = delete;
    RandomSteps &operator=(const RandomSteps &) = delete;

    polytile_status cut() {
        return is_cut_++ == 0 ? pti_plan_cut_kinds(&request_, &bound_) : POLYTILE_OK;
    }
    /** Of a launch by itself, where it runs in place. */
    const pti_schedule *in_place(int step) const { return asked_[size_t(step)].in_place; }

    /** Of all launches; they may be changed until something is planned. */
    polytile_plan_options &options() { return options_; }

    pti_step_window window = {};

  private:
    static RandomChainShape longer() {
        RandomChainShape shape;
        shape.times_longer = 30;
        return shape;
    }
    void add_array(const RandomChain::Field &field) {
        polytile_domain box = {};
        for (const int64_t extent : field.extents)
            box.range[box.n_dims++] = {0, extent - 1, 1};
        const std::string name = "field" + std::to_string(arrays_.size());
        arrays_.push_back(nullptr);
        EXPECT_EQ(polytile_array_describe(ctx_, name.c_str(), unsigned_of(field.element_bytes),
                                          &box, &arrays_.back()),
                  POLYTILE_OK)
            << polytile_last_error(ctx_);
        if (field.is_internal)
            scratch_.push_back(arrays_.back());
    }
    void add_kernel(const RandomChain::Kernel &kernel) {
        const polytile_implementation body = kernel.generic.implementation();
        kernels_.push_back(nullptr);
        operands_.emplace_back();
        for (const FieldUse &use : kernel.uses)
            operands_.back().push_back(arrays_[size_t(use.field)]);
        EXPECT_EQ(polytile_kernel_create(ctx_, kernel.generic.declaration().c_str(), &body,
                                         &kernels_.back()),
                  POLYTILE_OK)
            << polytile_last_error(ctx_);
    }
    void add_launch(const RandomChain::Launch &which) {
        launches_.push_back(chain_launch(kernels_[size_t(which.kernel)], which.threads,
                                         operands_[size_t(which.kernel)].data()));
    }
    void make_window() {
        request_ = {ctx_,
                    int(launches_.size()),
                    launches_.data(),
                    int(scratch_.size()),
                    scratch_.data(),
                    &options_};
        ASSERT_EQ(pti_launches_bind(&request_, &bound_), POLYTILE_OK) << polytile_last_error(ctx_);
        step_ = pti_plan_make_steps(&bound_, &window.n_steps);
        const bool in_place = options_.limit_bytes == 0;
        window.n_steps = in_place ? bound_.n_launches : window.n_steps;
        for (int l = 0; l < bound_.n_launches; l++)
            asked_.push_back({&options_, step_[l].call,
                              pti_asked_touched_bytes(step_[l].call.instance), true, PTI_TILES_NONE,
                              true, in_place ? &marker_ : nullptr});
        window.step = step_;
        window.asked = asked_.data();
        window.arrays = bound_.arrays;
        window.memory_bytes = in_place ? chain_.data_bytes() / 4 : options_.limit_bytes;
        window.core_bytes = in_place ? window.memory_bytes / 2 : 0;
        window.n_workers = 2;
        window.residency =
            in_place ? nullptr : pti_plan_make_residency(&bound_, options_.limit_bytes);
    }

    RandomChain chain_;
    polytile_context *ctx_ = nullptr;
    polytile_plan_options options_ = {};
    std::vector<polytile_array *> arrays_, scratch_;
    std::vector<polytile_kernel *> kernels_;
    std::vector<std::vector<polytile_array *>> operands_;
    std::vector<polytile_chain_launch> launches_;
    std::vector<pti_asked> asked_;
    pti_chain_request request_ = {};
    pti_launches bound_ = {};
    pti_step *step_ = nullptr;
    pti_schedule marker_ = {};
    int is_cut_ = 0;
};

#endif
