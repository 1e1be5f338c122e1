#include <algorithm>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <jansson.h>
#include <polytile/message.h>
#include <polytile/polytile.h>
#include <polytile/ranks.h>

#include "support/random.h"
#include "support/scale.h"
#include "support/xml.h"

extern "C" {
#include "distribute/show/ranks_plan.h"
#include "support/chain_launch.h"
}

namespace {

using Json = std::unique_ptr<json_t, decltype(&json_decref)>;
using Index = std::vector<int64_t>;

/** Launches of kernels over arrays of one extent a dimension, as a program would plan them. */
class MembersPlan : public ::testing::Test {
  protected:
    MembersPlan() { polytile_context_create(&ctx_); }
    ~MembersPlan() override { polytile_context_destroy(ctx_); }

    void add_array(const char *name, const Index &extents) {
        const polytile_domain domain =
            polytile_domain_from_extents(static_cast<int>(extents.size()), extents.data());
        polytile_array *array = nullptr;
        ASSERT_EQ(polytile_array_describe(ctx_, name, POLYTILE_F32, &domain, &array), POLYTILE_OK);
        arrays_.push_back(array);
    }

    void add_launch(const char *declaration, const polytile_domain &threads,
                    const std::vector<size_t> &arrays,
                    const polytile_implementation *implementation = nullptr) {
        polytile_kernel *kernel = nullptr;
        ASSERT_EQ(polytile_kernel_create(ctx_, declaration, implementation, &kernel), POLYTILE_OK)
            << error();
        operands_.push_back(std::make_unique<std::vector<polytile_array *>>());
        for (size_t a : arrays)
            operands_.back()->push_back(arrays_[a]);
        launches_.push_back(chain_launch(kernel, threads, operands_.back()->data()));
    }

    polytile_status make(int n_ranks, const char *grid, const char *layout, int64_t most = 0) {
        polytile_ranks_plan_destroy(plan_);
        polytile_ranks_request request = {};
        request.n_launches = static_cast<int>(launches_.size());
        request.launches = launches_.data();
        request.n_scratch = static_cast<int>(scratch_.size());
        request.scratch = scratch_.data();
        request.options = &options_;
        request.n_ranks = n_ranks;
        request.share.grid = grid;
        request.share.layout = layout;
        request.share.launches_per_exchange = most;
        return polytile_ranks_plan_create(&request, &plan_);
    }

    const pti_members_plan &members() const { return plan_->members; }
    std::string error() const { return polytile_last_error(ctx_); }

    std::string text(polytile_format format) const {
        char *text = nullptr;
        EXPECT_EQ(polytile_ranks_plan_to_string(plan_, format, &text), POLYTILE_OK) << error();
        const std::string copy = text == nullptr ? "" : text;
        std::free(text);
        return copy;
    }

    Json json() const {
        Json root(json_loads(text(POLYTILE_JSON).c_str(), 0, nullptr), json_decref);
        EXPECT_TRUE(root);
        return root;
    }

    polytile_ranks_summary summary() const {
        polytile_ranks_summary summary;
        polytile_ranks_plan_get_summary(plan_, &summary);
        return summary;
    }

    polytile_context *ctx_ = nullptr;
    std::vector<polytile_array *> arrays_, scratch_;
    std::vector<std::unique_ptr<std::vector<polytile_array *>>> operands_;
    std::vector<polytile_chain_launch> launches_;
    polytile_plan_options options_ = {};
    polytile_ranks_plan *plan_ = nullptr;
};

const polytile_domain inner = {2, {{1, 14, 1}, {1, 14, 1}}};
POLYTILE_TEAM_KERNEL(team_nine, (i, j), (const float, A, 2), (float, B, 2)) {
    PT_AT(B, i, j) = PT_AT(A, i - 1, j - 1) + PT_AT(A, i + 1, j + 1);
}
const char *const nine_points = "nine[i, j]: in A[i-1:i+1, j-1:j+1]; out B[i, j]";

int64_t integer(const json_t *object, const char *key) {
    EXPECT_TRUE(json_is_integer(json_object_get(object, key))) << key;
    return json_integer_value(json_object_get(object, key));
}

bool has(const polytile_domain &box, const Index &index) {
    bool has = true;
    for (int d = 0; d < box.n_dims; d++)
        has = has && box.range[d].lo <= index[static_cast<size_t>(d)] &&
              index[static_cast<size_t>(d)] <= box.range[d].hi;
    return has;
}

/** Every index of a box, one after another. */
void for_each(const polytile_domain &box, const std::function<void(const Index &)> &call) {
    Index index;
    for (int d = 0; d < box.n_dims; d++)
        index.push_back(box.range[d].lo);
    for (int d = box.n_dims; d >= 0;) {
        call(index);
        for (d = box.n_dims - 1; d >= 0; d--) {
            if (++index[static_cast<size_t>(d)] <= box.range[d].hi)
                break;
            index[static_cast<size_t>(d)] = box.range[d].lo;
        }
        d = d < 0 ? -1 : box.n_dims;
    }
}

/** An element that a thread reads: its array, and its indices. */
using Element = std::pair<size_t, Index>;

/** Bytes that go from rank to rank when every element that a rank's threads read comes from its
 * owner, once, element by element. */
std::map<std::pair<int, int>, int64_t>
count_bytes(const pti_members_plan &plan,
            const std::function<std::vector<Element>(const Index &)> &reads) {
    std::map<std::pair<int, int>, int64_t> bytes;
    for (int q = 0; q < plan.n_members; q++) {
        std::set<Element> needed;
        for (int b = 0; b < plan.member[q].threads.n_boxes; b++)
            for_each(plan.member[q].threads.box[b], [&](const Index &thread) {
                for (const Element &element : reads(thread))
                    needed.insert(element);
            });
        for (const Element &element : needed)
            for (int from = 0; from < plan.n_members; from++) {
                pti_boxes owned = {};
                pti_ownership_boxes(&plan.ownerships[element.first], from, &owned);
                for (int b = 0; b < owned.n_boxes; b++)
                    if (from != q && has(owned.box[b], element.second))
                        bytes[{from, q}] += 4;
                pti_boxes_free(&owned);
            }
    }
    return bytes;
}

std::map<std::pair<int, int>, int64_t> planned_bytes(const pti_members_plan &plan) {
    std::map<std::pair<int, int>, int64_t> bytes;
    for (int f = 0; f < plan.n_flows; f++)
        bytes[{plan.flow[f].from, plan.flow[f].to}] += plan.flow[f].n_bytes;
    return bytes;
}

/** That what ranks send and receive is the same in all, and what each of them says of the other. */
void expect_balance(const json_t *root) {
    json_t *members = json_object_get(root, "members"), *member, *way, *array;
    int64_t sent = 0, received = 0;
    size_t q, k, a;
    json_array_foreach(members, q, member) {
        int64_t n_bytes = 0;
        json_array_foreach(json_object_get(member, "sends"), k, way) {
            json_t *other = json_array_get(members, static_cast<size_t>(integer(way, "to")));
            json_t *back;
            size_t r;
            int n_found = 0;
            json_array_foreach(json_object_get(other, "receives"), r, back) n_found +=
                integer(back, "from") == integer(member, "rank") &&
                integer(back, "bytes") == integer(way, "bytes");
            EXPECT_EQ(n_found, 1);
            int64_t of_arrays = 0;
            json_array_foreach(json_object_get(way, "arrays"), a, array) of_arrays +=
                integer(array, "bytes");
            EXPECT_EQ(of_arrays, integer(way, "bytes"));
            n_bytes += integer(way, "bytes");
        }
        EXPECT_EQ(n_bytes, integer(member, "sent_bytes"));
        sent += n_bytes;
        received += integer(member, "received_bytes");
    }
    EXPECT_EQ(sent, integer(root, "exchange_bytes"));
    EXPECT_EQ(received, sent);
}

const struct {
    int n_ranks;
    const char *grid, *layout;
} ways[] = {{4, nullptr, nullptr},        {4, "4x1", "block"},       {6, "2x3", "block"},
            {3, nullptr, "block(dim=1)"}, {3, nullptr, "cyclic(2)"}, {2, nullptr, "weighted(3,1)"},
            {1, nullptr, nullptr},        {20, nullptr, nullptr}};

TEST_F(MembersPlan, CountsTheBytesOfAStencilAsElementByElement) {
    add_array("A", {16, 16});
    add_array("B", {16, 16});
    add_launch(nine_points, inner, {0, 1});
    for (const auto &way : ways) {
        ASSERT_EQ(make(way.n_ranks, way.grid, way.layout), POLYTILE_OK) << error();
        const auto reads = [](const Index &thread) {
            std::vector<Element> elements;
            for (int64_t i = -1; i <= 1; i++)
                for (int64_t j = -1; j <= 1; j++)
                    elements.push_back({0, {thread[0] + i, thread[1] + j}});
            return elements;
        };
        EXPECT_EQ(planned_bytes(members()), count_bytes(members(), reads)) << text(POLYTILE_TEXT);
        expect_balance(json().get());
    }
}

/** A stencil that reaches a few elements to each side, of a launch over what it can reach. */
TEST_F(MembersPlan, CountsTheBytesOfStencilsAtRandomAsElementByElement) {
    const uint64_t seed =
        test_seed("MembersPlan.CountsTheBytesOfStencilsAtRandomAsElementByElement");
    Random random(seed);
    for (int64_t round = 0; round < scaled(60); round++) {
        const Index extents = {random.number(7, 19), random.number(7, 19)};
        const int64_t up = random.number(0, 3), right = random.number(0, 3);
        const int n_ranks = static_cast<int>(random.number(1, 9));
        const char *layouts[] = {"block", "block(dim=0)", "block(dim=1)", "cyclic(3)", "weighted"};
        const char *layout = layouts[random.number(0, 4)];
        const std::string declaration = "reach[i, j]: in A[i-" + std::to_string(up) + ":i, j:j+" +
                                        std::to_string(right) + "]; out B[i, j]";
        arrays_.clear();
        launches_.clear();
        add_array("A", extents);
        add_array("B", extents);
        add_launch(declaration.c_str(),
                   {2, {{up, extents[0] - 1, 1}, {0, extents[1] - 1 - right, 1}}}, {0, 1});
        ASSERT_EQ(make(n_ranks, nullptr, layout), POLYTILE_OK) << error();
        const auto reads = [&](const Index &thread) {
            std::vector<Element> elements;
            for (int64_t i = thread[0] - up; i <= thread[0]; i++)
                for (int64_t j = thread[1]; j <= thread[1] + right; j++)
                    elements.push_back({0, {i, j}});
            return elements;
        };
        EXPECT_EQ(planned_bytes(members()), count_bytes(members(), reads)) << text(POLYTILE_TEXT);
        EXPECT_EQ(xml_error(text(POLYTILE_SVG)), "");
        expect_balance(json().get());
    }
}

TEST_F(MembersPlan, CountsTheBytesOfAMatmulAsElementByElement) {
    const int64_t extents[] = {9, 8, 7};
    add_array("P", {9, 7});
    add_array("Q", {7, 8});
    add_array("R", {9, 8});
    add_launch("matmul[i, j, k]: in P[i, k], Q[k, j]; out sum R[i, j]",
               polytile_domain_from_extents(3, extents), {0, 1, 2});
    for (const auto &way : ways) {
        ASSERT_EQ(make(way.n_ranks, way.grid, way.layout), POLYTILE_OK) << error();
        const auto reads = [](const Index &thread) {
            return std::vector<Element>{{0, {thread[0], thread[2]}}, {1, {thread[2], thread[1]}}};
        };
        EXPECT_EQ(planned_bytes(members()), count_bytes(members(), reads)) << text(POLYTILE_TEXT);
        expect_balance(json().get());
        EXPECT_EQ(members().combined_bytes, 0);
    }
}

TEST_F(MembersPlan, NothingTravelsForAVectorAdd) {
    const int64_t n = 100;
    for (const char *name : {"x", "y", "z"})
        add_array(name, {n});
    add_launch("add[i]: in x[i], y[i]; out z[i]", polytile_domain_from_extents(1, &n), {0, 1, 2});
    for (const char *layout : {"block", "cyclic(8)", "weighted(1,2,3)"}) {
        ASSERT_EQ(make(3, nullptr, layout), POLYTILE_OK) << error();
        EXPECT_EQ(summary().exchange_bytes, 0);
        EXPECT_EQ(summary().n_threads, n);
        expect_balance(json().get());
    }
}

TEST_F(MembersPlan, CountsWhatComesFromEachNeighbour) {
    add_array("A", {16, 16});
    add_array("B", {16, 16});
    add_launch(nine_points, inner, {0, 1});
    ASSERT_EQ(make(4, "2x2", nullptr), POLYTILE_OK);
    ASSERT_EQ(members().n_members, 4);
    ASSERT_EQ(members().n_flows, 12);
    for (int q = 0; q < 4; q++) {
        EXPECT_EQ(members().member[q].n_threads, 49);
        EXPECT_EQ(members().member[q].owned_bytes, 2 * 64 * 4);
        EXPECT_EQ(members().member[q].received_bytes, 17 * 4);
        EXPECT_EQ(members().member[q].sent_bytes, 17 * 4);
        EXPECT_EQ(members().member[q].n_messages, 3);
    }
    for (int f = 0; f < members().n_flows; f++) {
        const pti_members_plan_flow &flow = members().flow[f];
        EXPECT_EQ(flow.n_bytes, flow.from == 3 - flow.to ? 4 : 32);
        EXPECT_EQ(flow.n_messages, 1);
    }
}

TEST_F(MembersPlan, SaysWhatIsCombined) {
    const int64_t n = 16;
    add_array("x", {n});
    add_array("s", {1});
    add_launch("dot[i]: in x[i]; out sum s[0]", polytile_domain_from_extents(1, &n), {0, 1});
    ASSERT_EQ(make(8, nullptr, "block"), POLYTILE_OK) << error();
    EXPECT_EQ(summary().combined_bytes, 4);
    EXPECT_EQ(summary().exchange_bytes, 0);
    EXPECT_EQ(members().member[7].n_threads, 2);
    const std::string printed = text(POLYTILE_TEXT);
    EXPECT_NE(printed.find("  launch 0  combined: 4 B\n"), std::string::npos) << printed;
}

TEST_F(MembersPlan, ExchangesOnceAGroupOfLaunches) {
    const polytile_domain most = {2, {{1, 1022, 1}, {1, 1022, 1}}};
    add_array("A", {1024, 1024});
    add_array("B", {1024, 1024});
    for (size_t l = 0; l < 8; l++)
        add_launch(nine_points, most, {l % 2, 1 - l % 2});
    scratch_.push_back(arrays_[1]);
    ASSERT_EQ(make(2, "2x1", "block", 1), POLYTILE_OK) << error();
    EXPECT_EQ(summary().n_exchanges, 8);
    EXPECT_EQ(summary().exchange_bytes, 4 * 2 * (1024 + 7 * 1022))
        << "a row each way; what nobody writes, at both ends, travels once, of A: B is scratch";
    EXPECT_EQ(summary().n_repeated_threads, 0);
    EXPECT_EQ(members().member[0].n_messages, 8);
    ASSERT_EQ(make(2, "2x1", "block", 4), POLYTILE_OK) << error();
    EXPECT_EQ(summary().n_exchanges, 2);
    EXPECT_EQ(summary().launches_per_exchange, 4);
    EXPECT_EQ(summary().exchange_bytes, 4 * 2 * (4 * 1024 + 4 * 1022))
        << "four rows each way, and once what nobody writes, of A";
    EXPECT_GT(summary().n_repeated_threads, 0);
    polytile_chain_summary inside;
    polytile_plan_get_chain_summary(polytile_ranks_plan_get_inner(plan_), &inside);
    EXPECT_EQ(inside.n_launches, 4);
    expect_balance(json().get());
}

TEST_F(MembersPlan, ExchangesOnceATeamKernel) {
    const polytile_domain most = {2, {{1, 1022, 1}, {1, 1022, 1}}};
    add_array("A", {1024, 1024});
    add_array("B", {1024, 1024});
    for (size_t l = 0; l < 6; l++)
        add_launch(nine_points, most, {l % 2, 1 - l % 2}, l == 3 ? &team_nine_kernel : nullptr);
    ASSERT_EQ(make(2, "2x1", "block", 4), POLYTILE_OK) << error();
    EXPECT_EQ(summary().n_exchanges, 3) << "three launches, the team kernel, two launches";
}

TEST_F(MembersPlan, PlansWhatEachRankDoesWithinTheLimit) {
    const int64_t n = 1000;
    for (const char *name : {"x", "y", "z"})
        add_array(name, {n});
    add_launch("add[i]: in x[i], y[i]; out z[i]", polytile_domain_from_extents(1, &n), {0, 1, 2});
    options_.limit_bytes = 4096;
    ASSERT_EQ(make(3, nullptr, "weighted(1,1,2)"), POLYTILE_OK) << error();
    Json root = json();
    EXPECT_EQ(integer(root.get(), "planned_rank"), 2);
    EXPECT_EQ(integer(root.get(), "h2d_bytes"), 500 * 8) << "of the rank with the most to do";
    int64_t uploads = 0;
    json_t *member;
    size_t q;
    json_array_foreach(json_object_get(root.get(), "members"), q, member) {
        uploads += integer(member, "h2d_bytes");
        EXPECT_LE(integer(member, "peak_device_bytes"), 4096);
        EXPECT_GE(integer(member, "kernels"), 1);
    }
    EXPECT_EQ(uploads, n * 8);
}

TEST_F(MembersPlan, TellsTheLargestPeakOfAllRanksBesideTheLimit) {
    const int64_t n = 1000;
    for (const char *name : {"x", "y", "z"})
        add_array(name, {n});
    add_launch("add[i]: in x[i], y[i]; out z[i]", polytile_domain_from_extents(1, &n), {0, 1, 2});
    options_.limit_bytes = 4096;
    ASSERT_EQ(make(3, nullptr, "weighted(1,3,4)"), POLYTILE_OK) << error();
    Json root = json();
    int64_t largest = 0;
    json_t *member;
    size_t q;
    json_array_foreach(json_object_get(root.get(), "members"), q, member) largest =
        std::max(largest, integer(member, "peak_device_bytes"));
    EXPECT_EQ(integer(root.get(), "largest_peak_device_bytes"), largest);
    EXPECT_LE(largest, 4096);
    const std::string printed = text(POLYTILE_TEXT);
    EXPECT_NE(printed.find(", the most of all; the limit of each is 4 KiB\n"), std::string::npos)
        << printed;
}

TEST_F(MembersPlan, SaysOnWhichRankNothingFits) {
    const int64_t n = 1000;
    add_array("x", {n});
    add_array("y", {n});
    add_launch("all[i]: in x[0:999]; out y[i]", polytile_domain_from_extents(1, &n), {0, 1});
    options_.limit_bytes = 1024;
    EXPECT_EQ(make(2, nullptr, nullptr), POLYTILE_NO_FIT);
    EXPECT_EQ(plan_, nullptr);
    EXPECT_EQ(error().substr(0, 8), "rank 0: ");
}

/** The bytes of all flows of a superstep in the JSON, or of the earlier one that is the same. */
int64_t step_bytes(json_t *steps, size_t number) {
    const json_t *step = json_array_get(steps, number);
    const json_t *as = json_object_get(step, "same_as");
    if (json_is_integer(as))
        step = json_array_get(steps, static_cast<size_t>(json_integer_value(as)));
    int64_t n_bytes = 0;
    for (const char *side : {"before", "behind"}) {
        const json_t *flows = json_object_get(step, side);
        for (size_t f = 0; f < json_array_size(flows); f++)
            n_bytes += integer(json_array_get(flows, f), "bytes");
    }
    return n_bytes;
}

TEST_F(MembersPlan, SaysInWhichSuperstepWhatTravels) {
    const polytile_domain most = {2, {{1, 1022, 1}, {1, 1022, 1}}};
    add_array("A", {1024, 1024});
    add_array("B", {1024, 1024});
    for (size_t l = 0; l < 8; l++)
        add_launch(nine_points, most, {l % 2, 1 - l % 2});
    ASSERT_EQ(make(2, "2x1", "block", 1), POLYTILE_OK) << error();
    const Json root = json();
    json_t *steps = json_object_get(root.get(), "supersteps");
    ASSERT_EQ(json_array_size(steps), 8U);
    int64_t n_bytes = 0;
    for (size_t s = 0; s < 8; s++) {
        EXPECT_EQ(integer(json_array_get(steps, s), "first_launch"), static_cast<int64_t>(s));
        n_bytes += step_bytes(steps, s);
    }
    EXPECT_EQ(n_bytes, summary().exchange_bytes);
    EXPECT_EQ(step_bytes(steps, 0), 4 * 2 * 1024) << "a row each way";
    EXPECT_EQ(step_bytes(steps, 7), 4 * 2 * 1022) << "but for what nobody writes";
    EXPECT_EQ(integer(json_array_get(steps, 7), "same_as"), 3) << "they alternate";
    const std::string printed = text(POLYTILE_TEXT);
    EXPECT_NE(printed.find("  launch 0  before: 1 to 0: 4 KiB, 0 to 1: 4 KiB\n"), std::string::npos)
        << printed;
    EXPECT_NE(printed.find("  launch 7  as for launch 3\n"), std::string::npos) << printed;
    const std::string drawn = text(POLYTILE_SVG);
    EXPECT_NE(drawn.find("launch 0  before: 1 to 0: 4 KiB, 0 to 1: 4 KiB<"), std::string::npos);
    EXPECT_NE(drawn.find("launch 7  as for launch 3<"), std::string::npos);
}

TEST_F(MembersPlan, IsPrintedForPeople) {
    add_array("A", {16, 16});
    add_array("B", {16, 16});
    add_launch(nine_points, inner, {0, 1});
    ASSERT_EQ(make(2, nullptr, "block(dim=0)"), POLYTILE_OK);
    const std::string printed = text(POLYTILE_TEXT);
    EXPECT_EQ(printed.find("nine over 2 ranks, 2x1, block(dim=0)\n"), 0U) << printed;
    EXPECT_NE(printed.find("  exchanges    128 B from rank to rank\n"), std::string::npos)
        << printed;
    EXPECT_NE(printed.find("1: 64 B\n"), std::string::npos) << printed;
    EXPECT_NE(printed.find("nine over [1:7, 1:14]: 98 threads"), std::string::npos) << printed;
}

TEST_F(MembersPlan, IsDrawnWithWhatTravels) {
    add_array("A", {16, 16});
    add_array("B", {16, 16});
    add_launch(nine_points, inner, {0, 1});
    for (const auto &way : ways) {
        ASSERT_EQ(make(way.n_ranks, way.grid, way.layout), POLYTILE_OK) << error();
        const std::string picture = text(POLYTILE_SVG);
        EXPECT_EQ(xml_error(picture), "");
        EXPECT_EQ(picture.find("rank 0 to rank 1: ") != std::string::npos, way.n_ranks > 1);
    }
}

TEST_F(MembersPlan, ManyBoxesArePlannedForOneRankOrNot) {
    const int64_t n = 10000;
    add_array("x", {n});
    add_array("y", {n});
    add_launch("copy[i]: in x[i]; out y[i]", polytile_domain_from_extents(1, &n), {0, 1});
    options_.limit_bytes = 65536;
    ASSERT_EQ(make(3, nullptr, "cyclic(100)"), POLYTILE_OK) << error();
    Json root = json();
    json_t *members = json_object_get(root.get(), "members");
    EXPECT_EQ(integer(root.get(), "planned_rank"), 0);
    EXPECT_GT(integer(json_array_get(members, 0), "kernels"), 0);
    EXPECT_TRUE(json_is_null(json_object_get(json_array_get(members, 1), "kernels")));
    EXPECT_EQ(make(3, nullptr, "cyclic(2)"), POLYTILE_UNSUPPORTED);
    EXPECT_NE(error().find("take larger blocks"), std::string::npos) << error();
}

int allocations_left;

void *fail_after_a_while(size_t n_bytes) {
    return allocations_left-- > 0 ? malloc(n_bytes) : nullptr;
}

TEST_F(MembersPlan, JsonReportsEveryFailedAllocation) {
    add_array("A", {16, 16});
    add_array("B", {16, 16});
    add_launch(nine_points, inner, {0, 1});
    ASSERT_EQ(make(2, nullptr, nullptr), POLYTILE_OK) << error();
    polytile_status status = POLYTILE_NO_MEMORY;
    int n_failures = 0;
    for (; status != POLYTILE_OK && n_failures < 10000; n_failures++) {
        char *text = nullptr;
        allocations_left = n_failures;
        json_set_alloc_funcs(fail_after_a_while, std::free);
        status = polytile_ranks_plan_to_string(plan_, POLYTILE_JSON, &text);
        json_set_alloc_funcs(malloc, std::free);
        ASSERT_EQ(text != nullptr, status == POLYTILE_OK);
        ASSERT_TRUE(status == POLYTILE_OK || status == POLYTILE_NO_MEMORY);
        std::free(text);
    }
    EXPECT_EQ(status, POLYTILE_OK);
    EXPECT_GT(n_failures, 100);
}

TEST_F(MembersPlan, RefusesWhatIsNoFormatAndNoPlan) {
    const int64_t n = 100;
    add_array("x", {n});
    add_array("y", {n});
    add_launch("copy[i]: in x[i]; out y[i]", polytile_domain_from_extents(1, &n), {0, 1});
    ASSERT_EQ(make(2, nullptr, nullptr), POLYTILE_OK) << error();
    char *text = nullptr;
    EXPECT_EQ(polytile_ranks_plan_to_string(plan_, static_cast<polytile_format>(3), &text),
              POLYTILE_INVALID);
    EXPECT_EQ(text, nullptr);
    EXPECT_EQ(polytile_ranks_plan_to_string(plan_, POLYTILE_TEXT, nullptr), POLYTILE_INVALID);
    EXPECT_EQ(polytile_ranks_plan_to_string(nullptr, POLYTILE_TEXT, &text), POLYTILE_INVALID);
}

TEST_F(MembersPlan, WrongRequestsAreRefusedByName) {
    add_array("A", {16, 16});
    add_array("B", {16, 16});
    add_launch(nine_points, inner, {0, 1});
    const struct {
        int n_ranks;
        const char *grid, *layout, *named;
    } cases[] = {
        {4, nullptr, "blok", "\"blok\": give one of block"},
        {4, "3x2", nullptr, "the grid has 6 ranks, but 4"},
        {4, "2y2", nullptr, "grid \"2y2\""},
        {3, nullptr, "weighted(1,2)", "2 weights are given for 3 parts"},
        {0, nullptr, nullptr, "0 ranks"},
        {5000, nullptr, nullptr, "5000 ranks"},
    };
    for (const auto &c : cases) {
        EXPECT_EQ(make(c.n_ranks, c.grid, c.layout), POLYTILE_INVALID);
        EXPECT_EQ(plan_, nullptr);
        EXPECT_NE(error().find(c.named), std::string::npos) << error();
    }
    EXPECT_EQ(polytile_ranks_plan_create(nullptr, &plan_), POLYTILE_INVALID);
    polytile_ranks_request request = {};
    request.n_launches = static_cast<int>(launches_.size());
    request.launches = launches_.data();
    request.n_scratch = -1;
    request.n_ranks = 2;
    EXPECT_EQ(polytile_ranks_plan_create(&request, &plan_), POLYTILE_INVALID);
    EXPECT_NE(error().find("-1 scratch arrays"), std::string::npos) << error();
    request.n_scratch = 0;
    request.share.reserved[1] = 3;
    EXPECT_EQ(polytile_ranks_plan_create(&request, &plan_), POLYTILE_INVALID);
    EXPECT_NE(error().find("reserved[1] of polytile_share_options is 3"), std::string::npos)
        << error();
    request.share.reserved[1] = 0;
    request.reserved[0] = 1;
    EXPECT_EQ(polytile_ranks_plan_create(&request, &plan_), POLYTILE_INVALID);
    EXPECT_NE(error().find("reserved[0] of polytile_ranks_request is 1"), std::string::npos)
        << error();
}

} // namespace
