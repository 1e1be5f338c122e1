#ifndef POLYTILE_TESTS_LAUNCH_CUDA_PRODUCT_H
#define POLYTILE_TESTS_LAUNCH_CUDA_PRODUCT_H

#include "launch/cuda/programs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

/* A product of matrices on a queue over several GPUs, and what it moves. */

inline FakeCuda::Options gpus(int n_devices, bool are_linked) {
    FakeCuda::Options options;
    options.n_devices = n_devices;
    options.are_linked = are_linked;
    return options;
}

inline std::string devices_text(int n_devices, const std::string &options) {
    std::string text;
    for (int device = 0; device < n_devices; device++)
        text += (device ? ",cuda:" : "cuda:") + std::to_string(device) + options;
    return text;
}

/** The lengths of a product's matrices: A has n_rows rows, and B n_columns columns. */
struct ProductShape {
    int64_t n_rows, n_inner, n_columns;
};

/** C = A B, of which every device needs some rows of A and all of B. */
class Product {
  public:
    Product(const std::string &devices, int64_t n) : Product(devices, {n, n, n}, nullptr) {}
    /** policy: NULL: none is asked for. */
    Product(const std::string &devices, const ProductShape &shape, const char *policy)
        : shape_(shape) {
        a_.resize(static_cast<size_t>(shape.n_rows * shape.n_inner));
        b_.resize(static_cast<size_t>(shape.n_inner * shape.n_columns));
        c_.resize(static_cast<size_t>(shape.n_rows * shape.n_columns));
        std::iota(a_.begin(), a_.end(), 1);
        std::iota(b_.begin(), b_.end(), 7);
        EXPECT_EQ(polytile_context_create(&ctx_), POLYTILE_OK);
        polytile_share_options share = {};
        share.policy = policy;
        status = polytile_queue_create_shared(ctx_, devices.c_str(), &share, &queue_);
        make_kernel();
        wrap("A", a_, shape.n_rows, shape.n_inner);
        wrap("B", b_, shape.n_inner, shape.n_columns);
        wrap("C", c_, shape.n_rows, shape.n_columns);
    }
    ~Product() { polytile_context_destroy(ctx_); }
    Product(const Product &) = delete;
    Product &operator=(const Product &) = delete;

    polytile_status run() {
        std::fill(c_.begin(), c_.end(), 0U);
        const polytile_domain threads = {2,
                                         {{0, shape_.n_rows - 1, 1}, {0, shape_.n_columns - 1, 1}}};
        status = polytile_queue_attach(queue_, 3, arrays_.data());
        EXPECT_EQ(status, POLYTILE_OK) << error();
        if (status == POLYTILE_OK)
            status = polytile_queue_launch(queue_, kernel_, &threads, 3, arrays_.data(), &options);
        polytile_queue_get_report(queue_, true, &report);
        const polytile_status left = polytile_queue_detach(queue_, 3, arrays_.data());
        status = status == POLYTILE_OK ? left : status;
        return status;
    }

    void expect_right() const {
        const size_t n_inner = static_cast<size_t>(shape_.n_inner),
                     n_columns = static_cast<size_t>(shape_.n_columns);
        for (size_t i = 0; i < static_cast<size_t>(shape_.n_rows); i += 5) {
            for (size_t j = 0; j < n_columns; j++) {
                uint32_t sum = 0;
                for (size_t k = 0; k < n_inner; k++)
                    sum += a_[i * n_inner + k] * b_[k * n_columns + j];
                ASSERT_EQ(c_[i * n_columns + j], sum) << i << ", " << j;
            }
        }
    }

    bool is_marked() const { return !polytile_array_is_complete(arrays_[2]); }
    std::string error() const { return polytile_last_error(ctx_); }
    /** Of B. */
    int64_t array_bytes() const { return 4 * shape_.n_inner * shape_.n_columns; }

    polytile_status status = POLYTILE_OK;
    polytile_report report = {};
    polytile_launch_options options = {}; /* of the launch */

  private:
    void make_kernel() {
        for (size_t k = 0; k < program_kernels().size(); k++) {
            const std::string declaration = program_kernels()[k].declaration;
            if (declaration.compare(0, 8, "product[") != 0)
                continue;
            EXPECT_EQ(polytile_kernel_create(ctx_, declaration.c_str(), &fake_program_kernels()[k],
                                             &kernel_),
                      POLYTILE_OK)
                << error();
        }
    }
    void wrap(const char *name, std::vector<uint32_t> &memory, int64_t n_rows, int64_t n_columns) {
        const int64_t extents[] = {n_rows, n_columns};
        polytile_array *array = nullptr;
        EXPECT_EQ(polytile_array_wrap(ctx_, name, POLYTILE_U32, 2, extents, memory.data(), &array),
                  POLYTILE_OK)
            << error();
        arrays_.push_back(array);
    }

    ProductShape shape_;
    polytile_context *ctx_ = nullptr;
    polytile_queue *queue_ = nullptr;
    polytile_kernel *kernel_ = nullptr;
    std::vector<uint32_t> a_, b_, c_;
    std::vector<polytile_array *> arrays_;
};

struct Bytes {
    int64_t up = 0;
    int64_t between = 0;
};

inline Bytes bytes_of(const FakeCuda &cuda, int n_devices) {
    Bytes sum;
    for (int to = 0; to < n_devices; to++) {
        sum.up += cuda.link_bytes(-1, to);
        for (int from = 0; from < n_devices; from++)
            sum.between += from == to ? 0 : cuda.link_bytes(from, to);
    }
    return sum;
}

#endif
