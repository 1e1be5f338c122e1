#include "distribute/mpi/sent.h"
#include "distribute/mpi/spread_parts.h"
#include "distribute/walked.h"
#include "support/random_chain.h"

#include "jacobi3d_kernels.h"
#include "jacobi_kernels.h"
#include "matmul_kernels.h"
#include "matrix_add_kernels.h"
#include "vector_add_kernels.h"

#include <polytile/mpi.h>
#include <polytile/polytile.h>

#include <algorithm>
#include <deque>
#include <map>

extern "C" {
#include "distribute/show/ranks_plan.h"
#include "support/chain_launch.h"
}

/* What a plan over ranks tells of the bytes between them, beside those that a queue really
 * sends. */

namespace {

struct Field {
    std::vector<int64_t> extents;
    polytile_type type;
    bool is_internal = false;
};

struct Launch {
    size_t kernel;
    polytile_domain threads;
    std::vector<int> fields; /* one an operand */
};

/** Launches over fields that are all filled before, or that every rank attaches; but for those that
 * are internal. */
struct Launches {
    std::vector<Field> fields;
    std::vector<std::string> declarations;
    std::vector<Launch> launches;
    bool are_attached = false;
};

int do_nothing(const polytile_sub_kernel *) {
    return 0;
}

/** What kernels compute does not matter here. */
polytile_implementation idle() {
    polytile_implementation idle = {};
    idle.host_launcher = do_nothing;
    return idle;
}

void set_zero(const int64_t *, void *, void *) {}

/** What a plan tells of this rank. */
struct Planned {
    SentBytes sent;
    std::vector<std::vector<SentMessage>> exchanges; /* before and after each superstep */
    std::vector<MovedBy> moves;                      /* of each superstep */
    std::map<std::string, int64_t> copies;
};

/** A queue over all ranks: the way MPI makes one takes long where ranks share cores. */
class Ranks {
  public:
    Ranks(const std::string &device, const std::string &layout, int64_t launches_per_exchange)
        : device_(device), layout_(layout) {
        options_.layout = layout_.c_str();
        options_.launches_per_exchange = launches_per_exchange;
        EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        EXPECT_EQ(
            polytile_mpi_queue_create(ctx, MPI_COMM_WORLD, device_.c_str(), &options_, &queue),
            POLYTILE_OK)
            << error();
    }
    ~Ranks() { polytile_context_destroy(ctx); }
    Ranks(const Ranks &) = delete;
    Ranks &operator=(const Ranks &) = delete;

    /** What this rank is to send, to each rank, and to copy, in the words of a plan. */
    Planned plan(const std::vector<polytile_chain_launch> &launches,
                 const std::vector<polytile_array *> &scratch, bool are_attached) const {
        polytile_ranks_request request = {};
        polytile_ranks_plan *plan = nullptr;
        Planned planned;
        request.n_launches = static_cast<int>(launches.size());
        request.launches = launches.data();
        request.n_scratch = static_cast<int>(scratch.size());
        request.scratch = scratch.data();
        request.are_attached = are_attached;
        request.n_ranks = world_size();
        request.share = options_;
        request.device = device_.c_str();
        EXPECT_EQ(polytile_ranks_plan_create(&request, &plan), POLYTILE_OK) << error();
        if (plan == nullptr)
            return planned;
        for (int f = 0; f < plan->members.n_flows; f++) {
            const pti_members_plan_flow &flow = plan->members.flow[f];
            if (flow.from_process == world_rank() && flow.to_process != world_rank())
                planned.sent.add(flow.to_process, flow.n_messages, flow.n_bytes);
        }
        for (int s = 0; s < plan->members.n_supersteps; s++)
            add_exchanges(plan->members, plan->members.step[s], &planned.exchanges);
        planned.moves = planned_moves(plan, world_rank());
        planned.copies = planned_copies(plan, world_rank());
        polytile_ranks_plan_destroy(plan);
        return planned;
    }

    /** What it sends until the attached arrays have left. */
    SentBytes run(const std::vector<polytile_chain_launch> &launches,
                  const std::vector<polytile_array *> &attached) const {
        begin_counting();
        begin_noting();
        for (const polytile_chain_launch &launch : launches)
            EXPECT_EQ(polytile_queue_launch(queue, launch.kernel, &launch.domain,
                                            polytile_kernel_get_n_arrays(launch.kernel),
                                            launch.arrays, nullptr),
                      POLYTILE_OK)
                << error();
        EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
        const int n_attached = static_cast<int>(attached.size());
        if (n_attached > 0) {
            EXPECT_EQ(polytile_queue_detach(queue, n_attached, attached.data()), POLYTILE_OK)
                << error();
        }
        return end_counting();
    }

    std::string error() const { return polytile_last_error(ctx); }

    polytile_context *ctx = nullptr;
    polytile_queue *queue = nullptr;

  private:
    /** What this rank sends before a superstep and after it; all arrays that go the same way are
     * one message. */
    static void add_exchanges(const pti_members_plan &members, const pti_members_plan_step &step,
                              std::vector<std::vector<SentMessage>> *exchanges) {
        const pti_members_plan_step &as = members.step[step.same_as];
        const pti_members_plan_flow *flow = members.step_flow + as.first_flow;
        for (const int n_flows : {as.n_before, as.n_after}) {
            std::vector<SentMessage> messages;
            for (int f = 0; f < n_flows; f++, flow++) {
                if (flow->from_process != world_rank() || flow->to_process == world_rank())
                    continue;
                if (messages.empty() || messages.back().to != flow->to_process)
                    messages.push_back({flow->to_process, 0});
                messages.back().n_bytes += flow->n_bytes;
            }
            exchanges->push_back(messages);
        }
    }

    std::string device_, layout_;
    polytile_share_options options_ = {};
};

/** Launches with arrays and kernels of their own. */
class Rehearsal {
  public:
    Rehearsal(const Ranks &ranks, const Launches &of) : ranks_(ranks) {
        const polytile_implementation nothing = idle();
        for (const Field &field : of.fields)
            field.is_internal ? add_internal(field)
            : of.are_attached ? add_attached(field)
                              : add(field);
        for (const std::string &declaration : of.declarations) {
            kernels_.push_back(nullptr);
            EXPECT_EQ(
                polytile_kernel_create(ranks.ctx, declaration.c_str(), &nothing, &kernels_.back()),
                POLYTILE_OK)
                << ranks.error();
        }
        for (const Launch &launch : of.launches)
            add(launch);
    }
    ~Rehearsal() {
        for (polytile_array *array : arrays_)
            polytile_array_destroy(array);
        for (polytile_kernel *kernel : kernels_)
            polytile_kernel_destroy(kernel);
    }
    Rehearsal(const Rehearsal &) = delete;
    Rehearsal &operator=(const Rehearsal &) = delete;

    std::vector<polytile_chain_launch> launches;
    std::vector<polytile_array *> scratch, attached;

  private:
    /** Everybody has nothing but what it owns once an array is filled. */
    void add(const Field &field) {
        const std::string name = "f" + std::to_string(arrays_.size());
        polytile_array *array = nullptr;
        EXPECT_EQ(polytile_mpi_array_create(ranks_.queue, name.c_str(), field.type,
                                            static_cast<int>(field.extents.size()),
                                            field.extents.data(), nullptr, &array),
                  POLYTILE_OK)
            << ranks_.error();
        EXPECT_EQ(polytile_mpi_array_fill(array, set_zero, nullptr), POLYTILE_OK) << ranks_.error();
        arrays_.push_back(array);
    }
    /** Every rank has all of it. */
    void add_attached(const Field &field) {
        const std::string name = "f" + std::to_string(arrays_.size());
        polytile_array *array = nullptr;
        size_t n_bytes = 8;
        for (const int64_t extent : field.extents)
            n_bytes *= static_cast<size_t>(extent);
        memory_.emplace_back(n_bytes);
        EXPECT_EQ(polytile_array_wrap(ranks_.ctx, name.c_str(), field.type,
                                      static_cast<int>(field.extents.size()), field.extents.data(),
                                      memory_.back().data(), &array),
                  POLYTILE_OK)
            << ranks_.error();
        EXPECT_EQ(polytile_queue_attach(ranks_.queue, 1, &array), POLYTILE_OK) << ranks_.error();
        arrays_.push_back(array);
        attached.push_back(array);
    }
    /** Nobody wrote it. */
    void add_internal(const Field &field) {
        const std::string name = "f" + std::to_string(arrays_.size());
        polytile_array *array = nullptr;
        EXPECT_EQ(polytile_queue_create_array(ranks_.queue, name.c_str(), field.type,
                                              static_cast<int>(field.extents.size()),
                                              field.extents.data(), &array),
                  POLYTILE_OK)
            << ranks_.error();
        arrays_.push_back(array);
        scratch.push_back(array);
    }
    void add(const Launch &launch) {
        std::vector<polytile_array *> operands;
        for (const int field : launch.fields)
            operands.push_back(arrays_[static_cast<size_t>(field)]);
        operands_.push_back(operands);
        launches.push_back(
            chain_launch(kernels_[launch.kernel], launch.threads, operands_.back().data()));
    }

    const Ranks &ranks_;
    std::deque<std::vector<char>> memory_;
    std::vector<polytile_array *> arrays_;
    std::vector<polytile_kernel *> kernels_;
    std::deque<std::vector<polytile_array *>> operands_;
};

/** Messages leave exchange by exchange; within one in any order. */
void expect_in_order(const std::vector<std::vector<SentMessage>> &exchanges,
                     std::vector<SentMessage> sent) {
    size_t at = 0;
    for (const std::vector<SentMessage> &planned : exchanges) {
        ASSERT_LE(at + planned.size(), sent.size());
        const auto begin = sent.begin() + static_cast<std::ptrdiff_t>(at);
        const auto end = begin + static_cast<std::ptrdiff_t>(planned.size());
        std::sort(begin, end);
        ASSERT_TRUE(std::equal(begin, end, planned.begin())) << "after " << at << " messages";
        at += planned.size();
    }
    EXPECT_EQ(at, sent.size());
}

/** Returns the bytes that this rank sent. */
int64_t expect_as_planned(const Ranks &ranks, const Launches &of) {
    const Rehearsal rehearsal(ranks, of);
    const Planned planned = ranks.plan(rehearsal.launches, rehearsal.scratch, of.are_attached);
    const SentBytes sent = ranks.run(rehearsal.launches, rehearsal.attached);
    EXPECT_EQ(sent, planned.sent) << of.declarations[0];
    expect_in_order(planned.exchanges, sent_in_order());
    EXPECT_EQ(end_noting(), planned.moves) << of.declarations[0];
    EXPECT_EQ(copied_bytes(), planned.copies) << of.declarations[0];
    return sent.n_bytes();
}

polytile_domain inner(const std::vector<int64_t> &extents, int64_t border) {
    polytile_domain box =
        polytile_domain_from_extents(static_cast<int>(extents.size()), extents.data());
    for (int d = 0; d < box.n_dims; d++) {
        box.range[d].lo += border;
        box.range[d].hi -= border;
    }
    return box;
}

/** As the examples launch it, between two fields in turn. */
Launches stencil(const char *declaration, const std::vector<int64_t> &extents, int n_steps) {
    Launches of = {{{extents, POLYTILE_F32}, {extents, POLYTILE_F32}}, {declaration}, {}, false};
    for (int step = 0; step < n_steps; step++)
        of.launches.push_back({0, inner(extents, 1), {step % 2, 1 - step % 2}});
    return of;
}

Launches sum_of_two(const char *declaration, const std::vector<int64_t> &extents) {
    const Field field = {extents, POLYTILE_F32};
    return {{field, field, field}, {declaration}, {{0, inner(extents, 0), {0, 1, 2}}}, false};
}

Launches product(const char *declaration, int64_t m, int64_t n, int64_t k, bool splits_k) {
    const std::vector<int64_t> threads =
        splits_k ? std::vector<int64_t>{m, n, k} : std::vector<int64_t>{m, n};
    return {{{{m, k}, POLYTILE_F32}, {{k, n}, POLYTILE_F32}, {{m, n}, POLYTILE_F32}},
            {declaration},
            {{0, inner(threads, 0), {0, 1, 2}}},
            false};
}

std::vector<Launches> examples() {
    return {sum_of_two(ADD_DECLARATION, {101}),
            sum_of_two(MATRIX_ADD_DECLARATION, {17, 23}),
            stencil(JACOBI_DECLARATION, {34, 41}, 7),
            stencil(JACOBI3D_DECLARATION, {11, 12, 13}, 5),
            product(MATMUL_DECLARATION, 19, 14, 22, false),
            product(GEMM_DECLARATION, 19, 14, 22, true)};
}

const char *const one_device = "host(threads=1)";
const char *const two_devices = "host(threads=1)+host(memory=1MiB,threads=1)";
const char *const three_devices = "host(memory=1MiB),host(threads=1),host(memory=2MiB)";

struct Way {
    const char *device;
    const char *layout;
    int64_t launches_per_exchange;
};

/** The first two alone where many ranks share few cores. */
std::vector<Way> ways() {
    const std::vector<Way> all = {{one_device, "block", 0},        {two_devices, "block", 0},
                                  {one_device, "cyclic(1)", 1},    {one_device, "block", 1},
                                  {one_device, "block(dim=1)", 2}, {one_device, "cyclic(3)", 0},
                                  {two_devices, "cyclic(2)", 3},   {three_devices, "block", 1}};
    return world_size() > 4 ? std::vector<Way>(all.begin(), all.begin() + 2) : all;
}

TEST(MpiSentBytes, AreThoseOfThePlanForAllExamples) {
    for (const Way &way : ways()) {
        SCOPED_TRACE(std::string(way.device) + " " + way.layout);
        const Ranks ranks(way.device, way.layout, way.launches_per_exchange);
        int64_t n_bytes = 0;
        for (const Launches &of : examples())
            n_bytes += expect_as_planned(ranks, of);
        EXPECT_EQ(n_bytes > 0, world_size() > 1);
    }
}

/** More launches than a queue records before it runs them, over so many elements that next to
 * nothing is computed twice: it ends supersteps for other reasons, which a plan knows. */
TEST(MpiSentBytes, AreThoseOfThePlanForLongRuns) {
    const Ranks ranks(one_device, "block", 0);
    const int64_t n_bytes =
        expect_as_planned(ranks, stencil("three[i]: in A[i-1:i+1]; out B[i]", {100000}, 1100));
    EXPECT_EQ(n_bytes > 0, world_size() > 1);
}

polytile_type unsigned_of(int64_t n_bytes) {
    return n_bytes == 1   ? POLYTILE_U8
           : n_bytes == 2 ? POLYTILE_U16
           : n_bytes == 4 ? POLYTILE_U32
                          : POLYTILE_U64;
}

Launches random_launches(Random &random) {
    RandomChain chain(&random, RandomChainShape());
    Launches of;
    of.are_attached = random.chance(40);
    for (const RandomChain::Field &field : chain.fields())
        of.fields.push_back({field.extents, unsigned_of(field.element_bytes), random.chance(30)});
    for (const RandomChain::Kernel &kernel : chain.kernels())
        of.declarations.push_back(kernel.generic.declaration());
    for (int64_t n = random.number(1, 8); n > 0; n--)
        for (const RandomChain::Launch &launch : chain.step()) {
            const auto which = static_cast<size_t>(launch.kernel);
            Launch next = {which, launch.threads, {}};
            for (const FieldUse &use : chain.kernels()[which].uses)
                next.fields.push_back(use.field);
            of.launches.push_back(next);
        }
    return of;
}

TEST(MpiSentBytes, AreThoseOfThePlanForRandomLaunches) {
    Random random(world_seed("MpiSentBytes.AreThoseOfThePlanForRandomLaunches"));
    for (int64_t n = scaled(world_size() > 4 ? 1 : 3); n > 0 && world_most(HasFailure()) == 0;
         n--) {
        const std::string layout = random_layout(random, 2);
        const char *const devices[] = {one_device, two_devices, three_devices};
        const std::string device = devices[n % 3];
        SCOPED_TRACE(device + " " + layout);
        const Ranks ranks(device, layout, random.one_of({0, 0, 1, 3}));
        for (int k = world_size() > 4 ? 4 : 0; k < 6; k++)
            expect_as_planned(ranks, random_launches(random));
    }
}

} // namespace
