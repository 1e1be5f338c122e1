#ifndef POLYTILE_TESTS_LAUNCH_SCENE_H
#define POLYTILE_TESTS_LAUNCH_SCENE_H

#include "launch/cases.h"
#include "support/random.h"

#include <cstring>
#include <gtest/gtest.h>

extern "C" {
#include "access/footprint/footprint.h"
#include "access/pieces/shear.h"
#include "access/set/memory_layout.h"
#include "launch/device/reduction.h"
}

/** Elements with small whole numbers of a type. */
inline void fill_elements(polytile_type type, std::vector<unsigned char> *bytes, Random *random) {
    const size_t element_bytes = static_cast<size_t>(polytile_type_get_bytes(type));
    for (size_t k = 0; k < bytes->size(); k += element_bytes) {
        const int64_t value = random->number(0, 7);
        const float f32 = static_cast<float>(value);
        const double f64 = static_cast<double>(value);
        const void *from = type == POLYTILE_F32   ? static_cast<const void *>(&f32)
                           : type == POLYTILE_F64 ? static_cast<const void *>(&f64)
                                                  : &value;
        std::memcpy(bytes->data() + k, from, element_bytes);
    }
}

/** A case with a size: arrays in memory, what they should hold after a run, and its kernel. */
class Scene {
  public:
    Scene(polytile_context *ctx, const Case &of, int64_t n, Random *random)
        : of_(of), domain(of.domain(n)) {
        EXPECT_EQ(polytile_kernel_create(ctx, of.declaration, of.implementation, &kernel),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        memory.resize(of.arrays.size());
        for (size_t a = 0; a < of.arrays.size(); a++) {
            const Extents extents = of.arrays[a].extents(n);
            int64_t n_bytes = polytile_type_get_bytes(of.arrays[a].type);
            for (int64_t extent : extents)
                n_bytes *= extent;
            memory[a].resize(static_cast<size_t>(n_bytes));
            fill_elements(of.arrays[a].type, &memory[a], random);
            polytile_array *array = nullptr;
            EXPECT_EQ(polytile_array_wrap(ctx, of.arrays[a].name, of.arrays[a].type,
                                          static_cast<int>(extents.size()), extents.data(),
                                          memory[a].data(), &array),
                      POLYTILE_OK)
                << polytile_last_error(ctx);
            arrays.push_back(array);
        }
        if (of.has_parameter) {
            options.n_parameters = 1;
            options.parameters = &parameter;
            parameter = POLYTILE_PARAMETER("n", n);
        }
        before = memory;
    }

    /** The kernel as one plain loop over whole arrays. */
    void compute_expected(const pti_instance *instance) {
        std::vector<polytile_view> views;
        std::vector<std::vector<unsigned char>> scratch;
        expected = before;
        for (int o = 0, a = 0; o < pti_instance_n_arrays(instance); o++) {
            const pti_operand &operand = instance->operand[o];
            if (operand.fresh)
                set_to_identity(operand, &expected[static_cast<size_t>(a)]);
            const pti_memory_layout layout =
                pti_memory_layout_of(pti_operand_array_domain(&operand), operand.element_bytes);
            polytile_view view = {};
            if (operand.is_scratch)
                scratch.emplace_back(static_cast<size_t>(layout.size_bytes));
            view.origin = origin_of(
                operand.is_scratch ? &scratch.back() : &expected[static_cast<size_t>(a++)], layout);
            std::memcpy(view.stride_bytes, layout.stride_bytes, sizeof view.stride_bytes);
            view.resident = resident(instance, o);
            for (int d = 0; d < operand.whole.n_dims; d++) {
                view.array_first[d] = operand.whole.range[d].lo;
                view.array_last[d] = operand.whole.range[d].hi;
            }
            views.push_back(view);
        }
        of_.implementation->host(&domain, views.data(), nullptr);
    }

    const Case &of_;
    polytile_domain domain;
    polytile_kernel *kernel = nullptr;
    std::vector<polytile_array *> arrays;
    std::vector<std::vector<unsigned char>> memory, before, expected;
    polytile_launch_options options = {};
    polytile_parameter parameter = {};

  private:
    static polytile_domain resident(const pti_instance *instance, int operand) {
        const polytile_domain hull =
            pti_footprint_hull(instance, operand, PTI_TOUCHES, &instance->threads);
        return pti_operand_unsheared(&instance->operand[operand], &hull);
    }

    /** Where the element of indices 0 would be. */
    static void *origin_of(std::vector<unsigned char> *bytes, const pti_memory_layout &layout) {
        int64_t offset = 0;
        for (int d = 0; d < layout.hull.n_dims; d++)
            offset += layout.hull.range[d].lo * layout.stride_bytes[d];
        return bytes->data() - offset;
    }

    static void set_to_identity(const pti_operand &operand, std::vector<unsigned char> *elements) {
        unsigned char identity[PTI_MAX_SCALAR_BYTES];
        pti_reduction_identity(operand.reduction, operand.type, identity);
        std::vector<unsigned char> &bytes = *elements;
        for (size_t k = 0; k < bytes.size(); k += static_cast<size_t>(operand.element_bytes))
            std::memcpy(bytes.data() + k, identity, static_cast<size_t>(operand.element_bytes));
    }
};

#endif
