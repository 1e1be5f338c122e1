#include "soak/programs.h"
#include "support/declared_kernel.h"
#include "support/links.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace {

RandomShape draw_shape(Random *random) {
    RandomShape shape;
    shape.inexact_percent = 0;
    shape.most_operands = static_cast<int>(random->number(1, 4));
    shape.conflict_free = random->chance(85);
    shape.edge_percent = random->chance(30) ? 40 : 0;
    return shape;
}

polytile_type unsigned_of(int64_t n_bytes) {
    return n_bytes == 1   ? POLYTILE_U8
           : n_bytes == 2 ? POLYTILE_U16
           : n_bytes == 4 ? POLYTILE_U32
                          : POLYTILE_U64;
}

std::vector<int64_t> draw_element_bytes(const RandomLaunch &launch, Random *random) {
    std::vector<int64_t> element_bytes;
    for (size_t p = 0; p < launch.array_domains().size(); p++)
        element_bytes.push_back(random->one_of({1, 2, 4, 4, 8}));
    return element_bytes;
}

/** In the list of a declaration: of any type, and among them now and then n of the subscripts, with
 * its value. A body takes those of its list alone. */
std::vector<GenericParameter> draw_list(const RandomLaunch &launch, Random *random) {
    std::vector<GenericParameter> list;
    if (random->chance(50))
        list = draw_parameters(random, 3);
    const int64_t n = launch.parameters()[0].value;
    const GenericParameter of_subscripts = {"n", draw_signed_type(random), true, n, n};
    if (random->chance(30))
        list.insert(random->chance(50) ? list.begin() : list.end(), of_subscripts);
    return list;
}

/** Errors that a random declaration may deserve. */
bool is_deserved(polytile_status status) {
    return status == POLYTILE_CONFLICT || status == POLYTILE_NO_FIT ||
           status == POLYTILE_DECLARATION || status == POLYTILE_UNSUPPORTED;
}

/** One in ten may have threads whose sections miss their array, which is refused. */
std::unique_ptr<RandomLaunch> draw_launch(polytile_context *ctx, Random *random) {
    for (;;) {
        auto launch = std::make_unique<RandomLaunch>(ctx, random, draw_shape(random));
        if (random->chance(90))
            launch->grow_arrays();
        if (launch->is_small())
            return launch;
    }
}

class Declared {
  public:
    Declared(polytile_context *ctx, const RandomLaunch &launch, Place *place, Random *random)
        : ctx_(ctx), launch_(launch), place_(place), random_(random),
          element_bytes_(draw_element_bytes(launch, random)), list_(draw_list(launch, random)),
          kernel_(&launch, element_bytes_, list_) {
        for (size_t p = 0; p < element_bytes_.size(); p++)
            add_array(p);
    }

    void run() {
        const std::string text = launch_.declaration_text(text_of(list_));
        SCOPED_TRACE(text + " over " + text_of(launch_.threads()) + described());
        polytile_implementation implementation = kernel_.implementation();
        place_->hooks().prepare(&implementation);
        if (!try_to(polytile_kernel_create(ctx_, text.c_str(), &implementation, &made_)))
            return;
        if (place_->is_queue() || random_->chance(30))
            on_queue();
        else
            on_device();
        compare();
    }

    Launches told;

  private:
    void add_array(size_t p) {
        const polytile_domain &domain = launch_.array_domains()[p];
        const auto n_bytes = static_cast<size_t>(pti_box_count(&domain) * element_bytes_[p]);
        memory_.emplace_back(n_bytes);
        for (unsigned char &byte : memory_.back())
            byte = static_cast<unsigned char>(random_->number(0, 255));
        expected_.push_back(memory_.back());
        polytile_array *array = nullptr;
        EXPECT_EQ(polytile_array_wrap_domain(ctx_, "array", unsigned_of(element_bytes_[p]), &domain,
                                             memory_.back().data(), &array),
                  POLYTILE_OK);
        arrays_.push_back(array);
        data_bytes_ += static_cast<int64_t>(n_bytes);
    }

    /** Whether it was done; if not it is counted, if that is right. */
    bool try_to(polytile_status status) {
        if (status == POLYTILE_OK)
            return true;
        told.n_refused[status]++;
        EXPECT_TRUE(is_deserved(status)) << polytile_last_error(ctx_);
        return false;
    }

    /** Memory for a part of the data; pieces begin at multiples of 256 bytes. */
    std::string device() const {
        const int64_t share = random_->one_of({1, 1, 2, 2, 3, 4, 8});
        const int64_t n_pieces =
            random_->one_of({1, 2, 2, 3}) * static_cast<int64_t>(arrays_.size());
        return place_->device(data_bytes_ / share + 256 * n_pieces);
    }

    polytile_launch_options draw_options() {
        static const char *const strategies[] = {nullptr, "min-time", "min-traffic", "min-kernels"};
        polytile_launch_options options = {};
        for (int64_t &threads : block_)
            threads = random_->number(1, 3);
        options.plan.block = random_->chance(80) ? block_ : nullptr;
        options.plan.strategy = strategies[random_->number(0, 3)];
        options.plan.n_buffers = static_cast<int>(random_->one_of({0, 0, 0, 1, 2, 3}));
        link_ = uneven_link(random_);
        options.plan.link = random_->chance(40) ? &link_ : nullptr;
        draw_given(&options);
        return options;
    }

    /** Other values than before, and that of n, which subscripts may have without the list. */
    void draw_given(polytile_launch_options *options) {
        draw_values(list_, random_, &values_);
        given_ = given_of(values_, random_);
        if (static_cast<size_t>(made_->declaration->n_parameters) > list_.size())
            given_.push_back(launch_.parameters()[0]);
        options->n_parameters = static_cast<int>(given_.size());
        options->parameters = given_.data();
    }

    /** The value of n, and the arrays. */
    std::string described() const {
        std::string text = ", n = " + std::to_string(launch_.parameters()[0].value);
        for (size_t p = 0; p < element_bytes_.size(); p++)
            text += ", array " + std::to_string(p) + " " + text_of(launch_.array_domains()[p]) +
                    " of " + std::to_string(element_bytes_[p]) + " bytes";
        return text;
    }

    void expect_launch() {
        std::vector<unsigned char *> memory;
        for (std::vector<unsigned char> &of : expected_)
            memory.push_back(of.data());
        kernel_.run_plainly(memory, bits_of(values_));
        told.n_run++;
    }

    /** By the run, or by a plan made before. */
    void on_device() {
        polytile_device *device_opened = nullptr;
        polytile_plan *plan = nullptr;
        const std::string text = device();
        ASSERT_EQ(polytile_device_open(ctx_, text.c_str(), &device_opened), POLYTILE_OK)
            << polytile_last_error(ctx_);
        polytile_launch_options options = draw_options();
        if (random_->chance(60)) {
            if (try_to(polytile_run(device_opened, made_, &launch_.threads(),
                                    static_cast<int>(arrays_.size()), arrays_.data(), &options)))
                expect_launch();
            return;
        }
        options.plan.limit_bytes = polytile_device_get_limit(device_opened);
        if (!try_to(polytile_plan_create(made_, &launch_.threads(),
                                         static_cast<int>(arrays_.size()), arrays_.data(), &options,
                                         &plan)))
            return;
        for (int64_t n = random_->number(1, 2); n > 0; n--) {
            draw_given(&options);
            if (try_to(polytile_plan_run(plan, device_opened, made_,
                                         static_cast<int>(arrays_.size()), arrays_.data(),
                                         list_.empty() ? nullptr : &options)))
                expect_launch();
        }
    }

    /** The same a few times over. */
    void on_queue() {
        polytile_queue *queue = nullptr;
        const int n_arrays = static_cast<int>(arrays_.size());
        const std::string text = device();
        ASSERT_EQ(place_->hooks().create_queue(ctx_, text.c_str(), &queue), POLYTILE_OK)
            << polytile_last_error(ctx_);
        ASSERT_EQ(polytile_queue_attach(queue, n_arrays, arrays_.data()), POLYTILE_OK)
            << polytile_last_error(ctx_);
        polytile_launch_options options = draw_options();
        for (int64_t n = random_->number(1, 4); n > 0; n--) {
            draw_given(&options);
            if (try_to(polytile_queue_launch(queue, made_, &launch_.threads(), n_arrays,
                                             arrays_.data(), &options)))
                expect_launch();
        }
        EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << polytile_last_error(ctx_);
        EXPECT_EQ(polytile_queue_detach(queue, n_arrays, arrays_.data()), POLYTILE_OK)
            << polytile_last_error(ctx_);
    }

    void compare() const {
        for (size_t p = 0; p < memory_.size(); p++) {
            const auto found =
                std::mismatch(memory_[p].begin(), memory_[p].end(), expected_[p].begin());
            if (found.first != memory_[p].end())
                ADD_FAILURE() << "element "
                              << (found.first - memory_[p].begin()) / element_bytes_[p]
                              << " of array " << p << " is wrong after " << told.n_run
                              << " launches";
        }
    }

    polytile_context *ctx_;
    const RandomLaunch &launch_;
    Place *place_;
    Random *random_;
    std::vector<int64_t> element_bytes_;
    std::vector<GenericParameter> list_;
    std::vector<GenericValue> values_; /* of the last launch */
    std::vector<polytile_parameter> given_;
    DeclaredKernel kernel_;
    polytile_kernel *made_ = nullptr;
    std::vector<polytile_array *> arrays_;
    std::vector<std::vector<unsigned char>> memory_;
    std::vector<std::vector<unsigned char>> expected_;
    int64_t data_bytes_ = 0;
    int64_t block_[POLYTILE_MAX_DIMS] = {};
    polytile_link link_ = {};
};

} // namespace

Launches run_declared(Place *place, Random *random) {
    polytile_context *ctx = nullptr;
    EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    Launches told;
    const std::unique_ptr<RandomLaunch> launch = draw_launch(ctx, random);
    {
        Declared program(ctx, *launch, place, random);
        program.run();
        told = program.told;
        polytile_context_destroy(ctx);
    }
    return told;
}
