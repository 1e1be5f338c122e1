#include <gtest/gtest.h>

#include <algorithm>

#include "launch/looked_up.h"
#include "support/environment.h"
#include "support/scale.h"

/* Index arrays that launches of a queue write: products with whatever matrix the arrays hold by
 * then. */

namespace {

using looked_up::Arrays;
using looked_up::Matrix;

POLYTILE_KERNEL(copy_i32, (i), (const int32_t, from, 1), (int32_t, to, 1)) {
    PT_AT(to, i) = PT_AT(from, i);
}

POLYTILE_KERNEL(copy_i64, (i), (const int64_t, from, 1), (int64_t, to, 1)) {
    PT_AT(to, i) = PT_AT(from, i);
}

/** The positions of arrays in the list: those of the product, then P and K of each matrix. */
enum { V, P, X, K, Y, FIRST_OF_MATRICES, N_MATRICES = 3 };

/** A queue with the arrays of several matrices, of which P and K hold one. */
class Products {
  public:
    Products(const std::string &device, Random *random) : random_(random) {
        const int64_t n_rows = random->one_of({1, 2, 17, 127}),
                      n_columns = random->one_of({1, 5, 97, 300});
        is_wide_ = random->chance(50);
        EXPECT_EQ(polytile_context_create(&ctx_), POLYTILE_OK);
        arrays_ = new Arrays(ctx_, is_wide_);
        size_t n_entries = 1;
        for (int m = 0; m < N_MATRICES; m++) {
            matrix_.emplace_back(n_rows, n_columns, random);
            n_entries = std::max(n_entries, matrix_.back().K.size());
        }
        for (Matrix &matrix : matrix_) {
            matrix.K.resize(n_entries, 0);
            matrix.V.resize(n_entries, 1);
            matrix.V = matrix_[0].V;
            matrix.x = matrix_[0].x;
        }
        add_arrays(static_cast<size_t>(n_rows));
        create_kernels();
        EXPECT_EQ(polytile_queue_create(ctx_, device.c_str(), &queue_), POLYTILE_OK)
            << polytile_last_error(ctx_);
    }
    Products(const Products &) = delete;
    Products &operator=(const Products &) = delete;

    ~Products() {
        polytile_context_destroy(ctx_);
        delete arrays_;
    }

    /** Queue some launches, the last of which is a product; false: a launch does not fit. */
    bool run() {
        const int n_launches = static_cast<int>(random_->number(1, 6));
        attach();
        bool fits = multiply();
        for (int k = 0; fits && k < n_launches; k++) {
            if (random_->chance(50))
                take_home_and_back(random_->one_of({Y, Y, X, K}));
            fits = random_->chance(50) ? become() && multiply() : multiply();
        }
        EXPECT_EQ(detach(), POLYTILE_OK) << polytile_last_error(ctx_);
        if (fits) {
            const std::vector<float> none(matrix_[0].P.size() - 1);
            EXPECT_EQ(arrays_->read(Y), expect_result(looked_up::ROWS, matrix_[held_], none));
        }
        return fits;
    }

    /** Queue a product after launches that write its index arrays. */
    bool run_with_another_matrix() {
        attach();
        const bool has_run = multiply() && become() && multiply();
        return detach() == POLYTILE_OK && has_run;
    }

  private:
    void add_arrays(size_t n_rows) {
        arrays_->add_values("V", matrix_[0].V);
        arrays_->add_indices("P", matrix_[0].P);
        arrays_->add_values("x", matrix_[0].x);
        arrays_->add_indices("K", matrix_[0].K);
        arrays_->add_values("y", std::vector<float>(n_rows, -1.0f));
        for (const Matrix &matrix : matrix_) {
            arrays_->add_indices("from_P", matrix.P);
            arrays_->add_indices("from_K", matrix.K);
        }
    }

    void create_kernels() {
        EXPECT_EQ(polytile_kernel_create(ctx_, looked_up::declarations[looked_up::ROWS],
                                         looked_up::implementations[looked_up::ROWS][is_wide_],
                                         &rows_),
                  POLYTILE_OK);
        EXPECT_EQ(polytile_kernel_create(ctx_, "copy[i]: in from[i]; out to[i]",
                                         is_wide_ ? &copy_i64_kernel : &copy_i32_kernel, &copy_),
                  POLYTILE_OK);
    }

    void attach() {
        EXPECT_EQ(polytile_queue_attach(queue_, static_cast<int>(arrays_->list.size()),
                                        arrays_->list.data()),
                  POLYTILE_OK)
            << polytile_last_error(ctx_);
    }

    polytile_status detach() {
        return polytile_queue_detach(queue_, static_cast<int>(arrays_->list.size()),
                                     arrays_->list.data());
    }

    /** One array leaves the queue and comes again, as that of a result does. */
    void take_home_and_back(int64_t array) {
        polytile_array **of = &arrays_->list[static_cast<size_t>(array)];
        EXPECT_EQ(polytile_queue_detach(queue_, 1, of), POLYTILE_OK) << polytile_last_error(ctx_);
        EXPECT_EQ(polytile_queue_attach(queue_, 1, of), POLYTILE_OK) << polytile_last_error(ctx_);
    }

    bool launch(const polytile_kernel *kernel, size_t n, std::vector<polytile_array *> arrays) {
        const polytile_status status =
            polytile_queue_launch(queue_, kernel, POLYTILE_EXTENTS(static_cast<int64_t>(n)),
                                  static_cast<int>(arrays.size()), arrays.data(), nullptr);
        EXPECT_TRUE(status == POLYTILE_OK || status == POLYTILE_NO_FIT)
            << polytile_last_error(ctx_);
        return status == POLYTILE_OK;
    }

    bool multiply() {
        const auto &of = arrays_->list;
        return launch(rows_, matrix_[0].P.size() - 1, {of[V], of[P], of[X], of[K], of[Y]});
    }

    bool become() {
        held_ = static_cast<size_t>(random_->number(0, N_MATRICES - 1));
        const size_t from = FIRST_OF_MATRICES + 2 * held_;
        const auto &of = arrays_->list;
        return launch(copy_, matrix_[0].P.size(), {of[from], of[P]}) &&
               launch(copy_, matrix_[0].K.size(), {of[from + 1], of[K]});
    }

    Random *random_;
    bool is_wide_ = false;
    size_t held_ = 0;
    polytile_context *ctx_ = nullptr;
    polytile_queue *queue_ = nullptr;
    polytile_kernel *rows_ = nullptr, *copy_ = nullptr;
    std::vector<Matrix> matrix_;
    Arrays *arrays_ = nullptr;
};

/** A device without memory of its own, or with little or much of it. */
std::string draw_device(Random *random) {
    if (random->chance(20))
        return "host";
    return "host(memory=" + std::to_string(256 << random->number(0, 10)) + "B)";
}

TEST(QueueLookedUp, ProductsHaveTheMatrixThatEarlierLaunchesWrote) {
    const uint64_t seed = test_seed("QueueLookedUp");
    Random random(seed);
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    int64_t n_run = 0;
    for (int64_t round = 0; round < scaled(100) && !HasFailure(); round++)
        n_run += Products(draw_device(&random), &random).run();
    EXPECT_FALSE(HasFailure()) << "seed " << seed;
    EXPECT_GE(n_run, least_count(scaled(100), 0.6)) << "seed " << seed;
}

TEST(QueueLookedUp, TheLogSaysWhatALaunchWaitsFor) {
    Environment environment;
    environment.set("POLYTILE_LOG", "info");
    Random random(5);
    testing::internal::CaptureStderr();
    EXPECT_TRUE(Products("host", &random).run_with_another_matrix());
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_NE(log.find("rows: waits for P, which subscripts hold and an earlier launch of the "
                       "queue on host writes"),
              std::string::npos)
        << log;
}

} // namespace
