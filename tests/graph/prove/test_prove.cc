#include "graph/prove/interpreter.h"
#include "graph/stream/random_stream.h"
#include "support/scale.h"

extern "C" {
#include "graph/plan/plan.h"
}

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

/* Waits that suffice are proved, those that do not have a counterexample that comes to pass. */

namespace {

/** a makes x for b and y for c; b makes z for c; scratch s of b. Each is alone on its unit. */
class StreamProof : public testing::Test {
  protected:
    StreamProof() {
        tasks.n_tasks = 3;
        tasks.task = task;
        tasks.n_buffers = 4;
        tasks.buffer = buffer;
        tasks.n_readers = 3;
        tasks.reader = reader;
        tasks.n_resources = 3;
        schedule.period = 10;
        schedule.start = start;
        schedule.capacity = capacity;
    }
    void TearDown() override { pti_firing_order_free(&order); }

    void find() { ASSERT_TRUE(pti_firing_order_find(&tasks, &schedule, colour, &order)); }

    pti_stream_fault prove() {
        pti_stream_fault fault = {};
        const pti_stream_claim claim = {&tasks, &order, place, 2, memory_bytes};
        EXPECT_TRUE(pti_stream_prove(&claim, &fault));
        return fault;
    }

    void drop_wait(int of, int on) {
        for (int w = order.first[of]; w < order.first[of + 1]; w++)
            if (order.wait[w].on == on)
                order.wait[w].tokens = 1000;
    }

    enum { A, B, C };
    enum { X, Y, Z, S };
    pti_task task[3] = {{0, 10, 0}, {1, 10, 0}, {2, 10, 0}};
    pti_frame_buffer buffer[4] = {
        {A, 0, 1, 8, 0}, {A, 1, 1, 4, 0}, {B, 2, 1, 8, 0}, {B, 3, 0, 8, 0}};
    pti_buffer_reader reader[3] = {{B, 0}, {C, 0}, {C, 0}};
    int64_t start[3] = {0, 10, 20}, capacity[4] = {2, 3, 2, 1}, memory_bytes[2] = {52, 0};
    pti_firing_place colour[4] = {{0, 0}, {0, 1}, {0, 2}, {0, 3}};
    pti_frame_place place[4] = {
        {0, 0, 8, 2, false}, {0, 16, 4, 3, false}, {0, 28, 8, 2, false}, {0, 44, 8, 1, false}};
    pti_stream_tasks tasks = {};
    pti_periodic schedule = {};
    pti_firing_order order = {};
};

TEST_F(StreamProof, HoldsWithTheWaitsThatWereFound) {
    find();
    EXPECT_EQ(prove().kind, PTI_STREAM_RIGHT);
}

TEST_F(StreamProof, NamesWhatIsReadBeforeItIsMade) {
    find();
    drop_wait(B, A);
    const pti_stream_fault fault = prove();
    EXPECT_EQ(fault.kind, PTI_STREAM_EARLY);
    EXPECT_EQ(fault.used.buffer, X);
    EXPECT_EQ(fault.used.user, B);
    EXPECT_EQ(fault.other.user, A);
}

TEST_F(StreamProof, NamesWhatIsOverwritten) {
    find();
    drop_wait(A, C);
    const pti_stream_fault fault = prove();
    EXPECT_EQ(fault.kind, PTI_STREAM_OVERWRITE)
        << "b may be ahead of c by two frames, a of b by two";
    EXPECT_EQ(fault.used.buffer, Y);
    EXPECT_EQ(fault.used.frame, 0);
    EXPECT_EQ(fault.used.user, C);
    EXPECT_EQ(fault.other.buffer, Y);
    EXPECT_EQ(fault.other.frame, 3);
}

TEST_F(StreamProof, ADepthOfOneLessIsTooFew) {
    find();
    for (const int b : {X, Y, Z}) {
        place[b].capacity--;
        const pti_stream_fault fault = prove();
        EXPECT_EQ(fault.kind, PTI_STREAM_OVERWRITE);
        EXPECT_EQ(fault.used.buffer, b);
        EXPECT_EQ(fault.other.frame - fault.used.frame, place[b].capacity);
        place[b].capacity++;
    }
}

TEST_F(StreamProof, PlacesThatOverlapTakeTurnsOrAreRefused) {
    find();
    place[S].offset_bytes = 40;
    const pti_stream_fault fault = prove();
    EXPECT_EQ(fault.kind, PTI_STREAM_OVERWRITE);
    EXPECT_EQ(fault.used.buffer, Z);
    EXPECT_EQ(fault.used.position, 1);
    EXPECT_EQ(fault.other.buffer, S);
    place[S].offset_bytes = 45;
    EXPECT_EQ(prove().kind, PTI_STREAM_OUTSIDE);
    place[S].offset_bytes = -1;
    EXPECT_EQ(prove().kind, PTI_STREAM_OUTSIDE);
    place[S].offset_bytes = 44;
    place[S].memory = 1;
    EXPECT_EQ(prove().kind, PTI_STREAM_OUTSIDE);
}

TEST_F(StreamProof, ZerosStayUntilTheyAreRead) {
    reader[0].delay = 2;
    capacity[X] = place[X].capacity = 3;
    place[X].offset_bytes = memory_bytes[0];
    memory_bytes[0] += 24;
    find();
    EXPECT_EQ(prove().kind, PTI_STREAM_RIGHT);
    place[S].offset_bytes = place[X].offset_bytes + 8;
    const pti_stream_fault fault = prove();
    EXPECT_EQ(fault.kind, PTI_STREAM_OVERWRITE);
    EXPECT_EQ(fault.used.buffer, X);
    EXPECT_EQ(fault.other.buffer, S);
}

TEST_F(StreamProof, CirclesAndLaterFramesAreRefused) {
    find();
    order.wait[order.first[A]].tokens = 0;
    EXPECT_EQ(prove().kind, PTI_STREAM_CIRCLE);
    order.wait[order.first[A]].tokens = -1;
    EXPECT_EQ(prove().kind, PTI_STREAM_LATER);
}

/* Plans of random graphs. */

const struct {
    const char *text;
    std::vector<std::string> units;
} machines[] = {
    {"digraph { a [device=\"host(memory=1MiB,threads=1)\"] }", {"a"}},
    {"digraph { a [device=\"host(memory=3MiB,threads=1)\"]; "
     "b [device=\"host(memory=1MiB,threads=1)\"]; a -> b [bandwidth=\"1GB/s\", latency=\"20us\"] }",
     {"a", "b"}},
};

/** A plan's claim, which can be changed. */
class PlanClaim {
  public:
    explicit PlanClaim(const polytile_graph_plan *plan) : tasks_(&plan->expansion.tasks) {
        std::vector<pti_firing_place> colours;
        for (int b = 0; b < plan->n_channels; b++) {
            const pti_channel &channel = plan->channel[b];
            colours.push_back({channel.memory, channel.colour});
            places.push_back({channel.memory, channel.offset_bytes, tasks_->buffer[b].frame_bytes,
                              channel.capacity,
                              pti_expansion_is_state(&plan->expansion, b) && !is_fed(plan, b)});
        }
        for (int m = 0; m < plan->n_memories; m++)
            memory_bytes.push_back(plan->memory[m].n_bytes);
        EXPECT_TRUE(pti_firing_order_find(tasks_, &plan->schedule, colours.data(), &order));
    }
    ~PlanClaim() { pti_firing_order_free(&order); }
    PlanClaim(const PlanClaim &) = delete;
    PlanClaim &operator=(const PlanClaim &) = delete;

    pti_stream_claim view() const {
        return {tasks_, &order, places.data(), static_cast<int>(memory_bytes.size()),
                memory_bytes.data()};
    }
    int n_waits() const { return order.first[order.n_tasks]; }

    std::vector<pti_frame_place> places;
    std::vector<int64_t> memory_bytes;
    pti_firing_order order = {};

  private:
    static bool is_fed(const polytile_graph_plan *plan, int buffer) {
        const int producer = plan->expansion.tasks.buffer[buffer].producer;
        return plan->expansion.task[producer].kind == PTI_TASK_FEED;
    }

    const pti_stream_tasks *tasks_;
};

/** Enough frames for a counterexample, which is in the first ones, and what leads to it. */
int64_t frames_for(const pti_stream_fault &fault) {
    return 4 + std::max({fault.used.frame, fault.used.user_frame, fault.other.frame,
                         fault.other.user_frame});
}

StreamInterpreter::Event event(int task, int64_t frame) {
    StreamInterpreter::Event made;
    made.task = task;
    made.frame = frame;
    return made;
}

/** Whether a frame's user that ends late finds what is not its own. */
bool shows(const pti_stream_claim &claim, Random *random, const pti_stream_fault &fault,
           const pti_used_frame &used, const pti_used_frame &other) {
    const int producer = claim.tasks->buffer[other.buffer].producer;
    StreamInterpreter::Hold hold;
    hold.begin = event(producer, other.frame);
    hold.until_begun = event(used.user, used.user_frame);
    hold.end = event(used.user, used.user_frame);
    hold.until_other_begun = event(producer, other.frame);
    return used.user >= 0 && !StreamInterpreter(claim, random, frames_for(fault)).run(hold);
}

/** Whether a counterexample comes to pass. */
bool comes_to_pass(const pti_stream_claim &claim, Random *random, const pti_stream_fault &fault) {
    StreamInterpreter::Hold late;
    late.begin = event(fault.other.user, 0);
    late.until_begun = event(fault.used.user, fault.used.user_frame);
    switch (fault.kind) {
    case PTI_STREAM_EARLY:
        return !StreamInterpreter(claim, random, frames_for(fault)).run(late);
    case PTI_STREAM_OVERWRITE:
        return shows(claim, random, fault, fault.used, fault.other) ||
               shows(claim, random, fault, fault.other, fault.used);
    default:
        return !StreamInterpreter(claim, random, 4).run();
    }
}

/** Whether what is proved goes well, and what is refused does not. */
bool is_judged_right(const pti_stream_claim &claim, Random *random, const pti_stream_fault &fault) {
    bool goes_well = true;
    for (int run = 0; fault.kind == PTI_STREAM_RIGHT && run < 3; run++)
        goes_well = goes_well && StreamInterpreter(claim, random, 12).run();
    if (fault.kind == PTI_STREAM_RIGHT)
        return goes_well;
    const bool has_no_bytes =
        fault.kind == PTI_STREAM_EARLY && claim.place[fault.used.buffer].frame_bytes == 0;
    return fault.kind == PTI_STREAM_OUTSIDE || fault.kind == PTI_STREAM_LATER || has_no_bytes ||
           comes_to_pass(claim, random, fault);
}

/** Change a claim by chance in one way. */
void mutate(Random *random, PlanClaim *claim) {
    const auto n = static_cast<int64_t>(claim->places.size());
    pti_frame_place &place = claim->places[static_cast<size_t>(random->number(0, n - 1))];
    pti_frame_place &other = claim->places[static_cast<size_t>(random->number(0, n - 1))];
    pti_firing_wait *wait = claim->n_waits() == 0
                                ? nullptr
                                : &claim->order.wait[random->number(0, claim->n_waits() - 1)];
    const int64_t way = random->number(0, 4);
    if (way == 0 && wait != nullptr)
        wait->tokens = 1000;
    else if (way == 1 && wait != nullptr)
        wait->tokens++;
    else if (way == 2 && wait != nullptr && wait->tokens > 0)
        wait->tokens--;
    else if (way == 3 && place.capacity > 1)
        place.capacity--;
    else if (place.memory == other.memory)
        std::swap(place.offset_bytes, other.offset_bytes);
}

class RandomProof : public testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }

    /** A plan of the context; NULL: state that synchronous cycles do not carry. */
    const polytile_graph_plan *draw(Random *random) {
        static const char *const objectives[] = {"period", "latency", "memory"};
        const auto &on = machines[random->number(0, 1)];
        RandomStream drawn(random, on.units);
        polytile_graph *graph = nullptr;
        polytile_machine *machine = nullptr;
        polytile_graph_plan *plan = nullptr;
        polytile_graph_options options = {};
        options.objective = objectives[random->number(0, 2)];
        options.no_overlap = random->chance(20);
        options.in_turn = !options.no_overlap && random->chance(30);
        EXPECT_EQ(polytile_graph_parse(ctx, drawn.text().c_str(), &graph), POLYTILE_OK);
        EXPECT_EQ(polytile_machine_parse(ctx, on.text, &machine), POLYTILE_OK);
        const polytile_status status = polytile_graph_plan_create(graph, machine, &options, &plan);
        EXPECT_TRUE(status == POLYTILE_OK || (options.no_overlap && status == POLYTILE_UNSUPPORTED))
            << polytile_last_error(ctx);
        return plan;
    }

    polytile_context *ctx = nullptr;
};

TEST_F(RandomProof, PlansHoldAndEachCounterexampleComesToPass) {
    Random random(test_seed("RandomProof.PlansHoldAndEachCounterexampleComesToPass"));
    const int64_t n_rounds = scaled(100);
    int64_t n_mutants = 0, n_refused = 0;
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        const polytile_graph_plan *plan = draw(&random);
        if (plan == nullptr || plan->n_channels == 0)
            continue;
        pti_stream_fault fault = {};
        const PlanClaim right(plan);
        const pti_stream_claim claim = right.view();
        ASSERT_TRUE(pti_stream_prove(&claim, &fault));
        EXPECT_EQ(fault.kind, PTI_STREAM_RIGHT) << round;
        EXPECT_TRUE(StreamInterpreter(claim, &random, 12).run()) << round;
        for (int m = 0; m < 20 && !HasFailure(); m++) {
            PlanClaim mutant(plan);
            mutate(&random, &mutant);
            const pti_stream_claim changed = mutant.view();
            ASSERT_TRUE(pti_stream_prove(&changed, &fault));
            n_mutants++;
            n_refused += fault.kind != PTI_STREAM_RIGHT;
            EXPECT_TRUE(is_judged_right(changed, &random, fault))
                << "round " << round << ", mutant " << m << ", kind " << fault.kind << ": frame "
                << fault.used.frame << " of buffer " << fault.used.buffer << " and frame "
                << fault.other.frame << " of buffer " << fault.other.buffer;
        }
    }
    printf("%lld of %lld mutants are refused\n", static_cast<long long>(n_refused),
           static_cast<long long>(n_mutants));
}

} // namespace
