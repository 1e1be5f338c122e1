#include "distribute/mpi/joined.h"

#include <cstring>
#include <vector>

extern "C" {
#include "launch/device/reduction.h"
}

namespace {

/** The partial results of all members; floats whose sum depends on the order. */
struct Partials {
    Partials(polytile_type type, int n_members, int64_t n_elements, Random &random)
        : element_bytes(polytile_type_get_bytes(type)),
          bytes(static_cast<size_t>(n_members),
                std::vector<char>(static_cast<size_t>(n_elements * element_bytes))) {
        for (std::vector<char> &of_member : bytes)
            for (int64_t k = 0; k < n_elements; k++)
                draw(type, random, of_member.data() + k * element_bytes);
    }

    void draw(polytile_type type, Random &random, char *element) const {
        const float real = static_cast<float>(random.number(1, 1000000)) * 1e-5f;
        const double wide = static_cast<double>(real) / 3;
        const int64_t whole = random.number(-100, 100);
        if (type == POLYTILE_INDEXED(POLYTILE_F32)) {
            const float value = static_cast<float>(random.number(-2, 2));
            std::memset(element, 0, static_cast<size_t>(element_bytes));
            std::memcpy(element, &value, sizeof value);
            std::memcpy(element + 8, &whole, sizeof whole);
            return;
        }
        const void *from = type == POLYTILE_F32   ? static_cast<const void *>(&real)
                           : type == POLYTILE_F64 ? static_cast<const void *>(&wide)
                                                  : static_cast<const void *>(&whole);
        std::memcpy(element, from, static_cast<size_t>(element_bytes));
    }

    /** One after the other, in the order of the members. */
    std::vector<char> combined(polytile_role role, polytile_type type) {
        std::vector<char> result = bytes[0];
        const int64_t n = static_cast<int64_t>(result.size()) / element_bytes;
        const polytile_domain box = polytile_domain_from_extents(1, &n);
        const pti_memory_layout layout = pti_memory_layout_of(&box, element_bytes);
        for (size_t q = 1; n > 0 && q < bytes.size(); q++) {
            const pti_move move = {
                &box, element_bytes, {result.data(), &layout}, {bytes[q].data(), &layout}};
            pti_reduction_combine(role, type, &move);
        }
        return result;
    }

    int64_t element_bytes;
    std::vector<std::vector<char>> bytes;
};

void expect_combined(const Joined &joined, polytile_role role, polytile_type type,
                     int64_t n_elements, Random &random) {
    const pti_transport &transport = *joined.transport;
    Partials partials(type, transport.n_members, n_elements, random);
    const auto first = partials.bytes.begin() + transport.first;
    const std::vector<std::vector<char>> own(first, first + transport.n_local);
    std::vector<std::vector<char>> sent = own;
    std::vector<char> result(own[0].size(), 'x');
    std::vector<void *> partial;
    for (std::vector<char> &of_member : sent)
        partial.push_back(of_member.data());
    const pti_combination combination = {role, type, n_elements, partial.data(), result.data()};
    ASSERT_EQ(joined.functions().combine(joined.transport, &combination, false), POLYTILE_OK)
        << joined.error();
    ASSERT_EQ(result, partials.combined(role, type)) << n_elements << " elements";
    ASSERT_EQ(sent, own);
}

TEST(MpiCombine, ResultsAreThoseOfTheMembersInOrder) {
    Random random(world_seed("MpiCombine.ResultsAreThoseOfTheMembersInOrder"));
    const Joined joined(static_cast<int>(random.number(1, 3)));
    for (int64_t round = scaled(60); round > 0; round--) {
        const auto role = static_cast<polytile_role>(random.number(POLYTILE_SUM, POLYTILE_MAX));
        const auto type = static_cast<polytile_type>(
            random.one_of({POLYTILE_I8, POLYTILE_I64, POLYTILE_F32, POLYTILE_F64}));
        expect_combined(joined, role, type, random.one_of({0, 1, 2, 100, 1000, 10007}), random);
    }
}

TEST(MpiCombine, ElementsOfTwoNumbersGoAsOthersDo) {
    const Joined joined;
    Random random(world_seed("MpiCombine.ElementsOfTwoNumbersGoAsOthersDo"));
    for (const int64_t n : {0, 1, 7, 1000, 100003})
        for (const polytile_role role : {POLYTILE_ARGMIN, POLYTILE_ARGMAX})
            expect_combined(joined, role, POLYTILE_INDEXED(POLYTILE_F32), n, random);
}

TEST(MpiCombine, LargeOnesTakeSeveralRounds) {
    Random random(world_seed("MpiCombine.LargeOnesTakeSeveralRounds"));
    const Joined joined(static_cast<int>(random.number(1, 2)));
    expect_combined(joined, POLYTILE_SUM, POLYTILE_F64, 1100003, random);
}

TEST(MpiCombine, AFailedRankIsHeardOfByAllWhateverTheSize) {
    const Joined joined;
    for (const int64_t n : {int64_t{0}, int64_t{1}, int64_t{100000}}) {
        const int failed = world_size() - 1;
        std::vector<float> values(static_cast<size_t>(n), 1.0f), result = values;
        const bool is_failed = world_rank() == failed;
        void *partial[] = {is_failed ? nullptr : values.data()};
        const pti_combination combination = {POLYTILE_SUM, POLYTILE_F32, n, partial,
                                             is_failed ? nullptr : result.data()};
        EXPECT_EQ(joined.functions().combine(joined.transport, &combination, is_failed),
                  PTI_PEER_FAILED)
            << n;
    }
}

} // namespace
