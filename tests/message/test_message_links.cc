#include <gtest/gtest.h>
#include <polytile/message.h>
#include <polytile/polytile.h>

#include <cstring>
#include <vector>

extern "C" {
#include "message/server.h"
}

/* Where slots of one device find the arrays of another one, by lists that the server makes. */

namespace {

bool store(void *, void *to, const void *from, int64_t n_bytes) {
    memcpy(to, from, static_cast<size_t>(n_bytes));
    return true;
}

bool reaches(void *, void *) {
    return true;
}

enum { ROW_BYTES = 64, N_ROWS = 100 };

/* Rows [first, first + n) of an array, which lie from byte `at` of a device's memory on. */
struct Section {
    int64_t at, first, n;
};

/* A device whose memory is the host's, and what a launch has there. */
class Device {
  public:
    explicit Device(const std::vector<Section> &sections) : memory_(N_ROWS * ROW_BYTES) {
        for (const Section &of : sections) {
            char *begin = memory_.data() + of.at;
            polytile_view view = {};
            view.origin = begin - of.first * ROW_BYTES;
            view.stride_bytes[0] = ROW_BYTES;
            view.resident = {1, {{of.first, of.first + of.n - 1, 1}}};
            views_.push_back(view);
            memories_.push_back({begin, begin + of.n * ROW_BYTES, 1});
        }
    }

    void begin(pti_server_part *part, polytile_context *ctx) {
        const int n = static_cast<int>(views_.size());
        const pti_server_bytes bytes = pti_server_count_bytes(part, n);
        shared_.resize(static_cast<size_t>(bytes.shared_bytes) / sizeof(pt_line) + 1);
        slots_.resize(static_cast<size_t>(bytes.slots_bytes) / sizeof(pt_line) + 1);
        device_.shared = shared_.data();
        device_.slots = slots_.data();
        device_.store = store;
        device_.reaches = reaches;
        ASSERT_EQ(pti_server_begin(part, ctx, memories_.data(), views_.data(), n, &device_),
                  POLYTILE_OK);
    }

    /** The address of a row of an operand, from which a device need not have it. */
    char *row(size_t operand, int64_t number) const {
        return static_cast<char *>(views_[operand].origin) + number * ROW_BYTES;
    }

    /** Where this device begins an operand, as bodies find it. */
    const char *begin_of(size_t operand) const {
        const uint64_t stride = ROW_BYTES;
        return pt_find_begin(views_[operand].origin, 1, &views_[operand].resident.range[0].lo,
                             &stride);
    }

  private:
    std::vector<char> memory_;
    std::vector<pt_line> shared_, slots_;
    std::vector<polytile_view> views_;
    std::vector<pt_memory> memories_;
    pti_slot_device device_ = {};
};

/** Two slots, one on each device, which are linked; where the first one finds a row of each operand
 * there. */
std::vector<void *> find_rows(Device *first, Device *second, const std::vector<int64_t> &rows) {
    const int32_t part_of[] = {0, 1};
    pti_server_request request = {};
    request.kernel_name = "links";
    request.n_slots = 2;
    request.threads = *POLYTILE_EXTENTS(2);
    request.timeout_s = 10;
    polytile_context *ctx = nullptr;
    polytile_context_create(&ctx);
    pti_server *server = pti_server_create(&request);
    EXPECT_TRUE(pti_server_deal(server, 2, part_of));
    pti_server_part *parts[] = {pti_server_get_part(server, 0), pti_server_get_part(server, 1)};
    first->begin(parts[0], ctx);
    second->begin(parts[1], ctx);
    for (pti_server_part *part : parts)
        EXPECT_EQ(pti_server_meet(part, ctx), POLYTILE_OK) << polytile_last_error(ctx);
    const pt_slot *slot = pti_server_get_slot(parts[0], 0);
    std::vector<void *> found;
    for (size_t o = 0; o < rows.size(); o++)
        found.push_back(
            pt_find_far(slot, 1, first->begin_of(o), first->row(o, rows[o]), ROW_BYTES));
    for (pti_server_part *part : parts)
        pti_server_abandon(part, nullptr);
    pti_server_release(server);
    polytile_context_destroy(ctx);
    return found;
}

/* Row 0 of both arrays would be at one address on the first device. */
TEST(MessageLinks, ArraysOfOneOriginAreToldApart) {
    Device first({{0, 0, 4}, {4 * ROW_BYTES, 4, 8}}), second({{0, 4, 4}, {4 * ROW_BYTES, 5, 8}});
    ASSERT_EQ(first.row(0, 0), first.row(1, 0));
    EXPECT_EQ(find_rows(&first, &second, {5, 5}),
              (std::vector<void *>{second.row(0, 5), second.row(1, 5)}));
    EXPECT_EQ(find_rows(&first, &second, {3, 12}),
              (std::vector<void *>{nullptr, second.row(1, 12)}))
        << "a row that is not there";
}

/* The first device has no element of two arrays, which are apart on the other one. */
TEST(MessageLinks, WhatBeginsAtOneAddressAndLiesApartIsOutOfReach) {
    Device first({{0, 0, 0}, {0, 0, 0}, {0, 0, 4}, {4 * ROW_BYTES, 0, 4}}),
        second({{0, 0, 4}, {4 * ROW_BYTES, 0, 4}, {8 * ROW_BYTES, 4, 4}, {12 * ROW_BYTES, 4, 4}});
    EXPECT_EQ(find_rows(&first, &second, {0, 0, 4, 4}),
              (std::vector<void *>{nullptr, nullptr, nullptr, second.row(3, 4)}));
}

/* One array under two names. */
TEST(MessageLinks, WhatLiesTogetherOnBothIsReached) {
    Device first({{0, 0, 4}, {0, 0, 2}}), second({{ROW_BYTES, 4, 4}, {ROW_BYTES, 4, 4}});
    EXPECT_EQ(find_rows(&first, &second, {6, 4}),
              (std::vector<void *>{second.row(0, 6), second.row(1, 4)}));
}

} // namespace
