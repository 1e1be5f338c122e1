#include "distribute/mpi/world.h"
#include "queue/queue_test.h"
#include "support/environment.h"

#include <polytile/kernel.h>
#include <polytile/mpi.h>

#include <memory>

/* Random programs whose rows ranks take, in launches that follow each other in any way: each rank
 * compares all arrays with those of the same program in one process. */

namespace {

POLYTILE_KERNEL(set, (i, j), (const int32_t, x, 2), (int32_t, y, 2)) {
    PT_AT(y, i, j) = (PT_AT(x, i, j) * 5 + (int32_t)(3 * i + j)) % 1009;
}

POLYTILE_KERNEL(swing, (i, j), (const int32_t, x, 2), (int32_t, y, 2)) {
    PT_AT(y, j, i) = (PT_AT(x, i, j) + 7) % 1009;
}

POLYTILE_KERNEL(onto, (i, j), (const int32_t, x, 2), (int32_t, y, 2)) {
    PT_AT(y, i, j) = (PT_AT(y, i, j) + PT_AT(x, i, j)) % 1009;
}

POLYTILE_KERNEL(columns, (i, j), (const int32_t, x, 2), (int32_t, y, 2)) {
    PT_SUM(PT_AT(y, 0, j), PT_AT(x, i, j) % 7);
}

POLYTILE_KERNEL(rows, (i, j), (const int32_t, x, 2), (int32_t, y, 2)) {
    PT_SUM(PT_AT(y, i, 0), PT_AT(x, i, j) % 7);
}

POLYTILE_KERNEL(most, (i, j), (const int32_t, x, 2), (int32_t, y, 2)) {
    PT_MAX(PT_AT(y, 0, 0), PT_AT(x, i, j));
}

/** Where ranks own parts of a row, several of them run the same threads. */
POLYTILE_KERNEL(line, (j), (const int32_t, x, 2), (int32_t, y, 2)) {
    PT_AT(y, 0, j) = (PT_AT(x, 0, j) + 11) % 1009;
}

struct Kind {
    int n_dims;
    const char *declaration;
    const polytile_implementation *implementation;
};

const Kind kinds[] = {
    {2, "set[i, j]: in x[i, j]; out y[i, j]", &set_kernel},
    {2, "swing[i, j]: in x[i, j]; out y[j, i]", &swing_kernel},
    {2, "onto[i, j]: in x[i, j]; inout y[i, j]", &onto_kernel},
    {2, "columns[i, j]: in x[i, j]; sum y[0, j]", &columns_kernel},
    {2, "columns[i, j]: in x[i, j]; out sum y[0, j]", &columns_kernel},
    {2, "rows[i, j]: in x[i, j]; sum y[i, 0]", &rows_kernel},
    {1, "line[j]: in x[0, j]; out y[0, j]", &line_kernel},
    {2, "most[i, j]: in x[i, j]; max y[0, 0]", &most_kernel},
};
constexpr int n_kinds = sizeof kinds / sizeof *kinds;

/** A step of a program: a launch, or that it waits, or that an array leaves and comes again. */
struct Step {
    enum Sort { LAUNCH, WAIT, LEAVE } sort;
    int kind;
    int in;
    int out;
    polytile_domain threads;
};

constexpr int n_arrays = 4;

/** A program on one queue, with its own memory. */
class Program {
  public:
    Program(polytile_context *ctx, polytile_queue *queue, int64_t extent)
        : ctx_(ctx), queue_(queue) {
        for (int a = 0; a < n_arrays; a++) {
            for (int64_t k = 0; k < extent * extent; k++)
                elements[a].push_back(static_cast<int32_t>((k * (a + 3)) % 97));
            const int64_t lengths[] = {extent, extent};
            const std::string name = "a" + std::to_string(a);
            expect(polytile_array_wrap(ctx, name.c_str(), POLYTILE_I32, 2, lengths,
                                       elements[a].data(), &array_[a]));
        }
        for (int k = 0; k < n_kinds; k++)
            expect(polytile_kernel_create(ctx, kinds[k].declaration, kinds[k].implementation,
                                          &kernel_[k]));
        expect(polytile_queue_attach(queue, n_arrays, array_));
    }
    ~Program() {
        polytile_queue_destroy(queue_);
        for (polytile_array *array : array_)
            polytile_array_destroy(array);
        for (polytile_kernel *kernel : kernel_)
            polytile_kernel_destroy(kernel);
    }
    Program(const Program &) = delete;
    Program &operator=(const Program &) = delete;

    void run(const std::vector<Step> &steps) {
        for (const Step &step : steps)
            run(step);
        expect(polytile_queue_detach(queue_, n_arrays, array_));
    }

    std::vector<int32_t> elements[n_arrays];

  private:
    void run(const Step &step) {
        polytile_array *arrays[] = {array_[step.in], array_[step.out]};
        if (step.sort == Step::LAUNCH) {
            expect(polytile_queue_launch(queue_, kernel_[step.kind], &step.threads, 2, arrays,
                                         nullptr));
        } else if (step.sort == Step::WAIT) {
            expect(polytile_queue_wait(queue_));
        } else {
            expect(polytile_queue_detach(queue_, 1, arrays));
            expect(polytile_queue_attach(queue_, 1, arrays));
        }
    }
    void expect(polytile_status status) const {
        EXPECT_EQ(status, POLYTILE_OK) << polytile_last_error(ctx_);
    }

    polytile_context *ctx_;
    polytile_queue *queue_;
    polytile_array *array_[n_arrays] = {};
    polytile_kernel *kernel_[n_kinds] = {};
};

polytile_range draw_range(Random *random, int64_t extent) {
    if (random->number(0, 2) > 0)
        return {0, extent - 1, 1};
    const int64_t lo = random->number(0, extent - 1);
    return {lo, random->number(lo, extent - 1), 1};
}

std::vector<Step> draw_steps(Random *random, int64_t extent) {
    std::vector<Step> steps;
    const int64_t n_steps = random->number(1, 12);
    while (static_cast<int64_t>(steps.size()) < n_steps) {
        const int64_t sort = random->number(0, 9);
        Step step = {sort < 6   ? Step::LAUNCH
                     : sort < 9 ? Step::WAIT
                                : Step::LEAVE,
                     static_cast<int>(random->number(0, n_kinds - 1)),
                     static_cast<int>(random->number(0, n_arrays - 1)),
                     static_cast<int>(random->number(0, n_arrays - 1)),
                     {2, {draw_range(random, extent), draw_range(random, extent)}}};
        if (step.in == step.out)
            step.out = (step.out + 1) % n_arrays;
        step.threads.n_dims = kinds[step.kind].n_dims;
        steps.push_back(step);
    }
    return steps;
}

int64_t take_at_random(const polytile_work *, int, void *user) {
    const int64_t answers[] = {0, 0, -1, INT64_MIN, 1, 2, 5, INT64_MAX};
    return answers[static_cast<Random *>(user)->number(0, 7)];
}

class MpiPoliciesRandom : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        polytile_policy hostile = {};
        hostile.name = "hostile";
        hostile.take = take_at_random;
        hostile.user = &own;
        ASSERT_EQ(polytile_policy_register(ctx, &hostile), POLYTILE_OK);
    }
    void TearDown() override { polytile_context_destroy(ctx); }

    polytile_queue *open_over_ranks() {
        static const char *const policies[] = {"self(1)", "self(3)", "guided", "hostile"};
        static const char *const devices[] = {"host(threads=1)", "host(memory=1MiB,threads=1)",
                                              "host(threads=1),host(memory=1MiB,threads=1)"};
        polytile_share_options share = {};
        share.policy = policies[random.number(0, 3)];
        polytile_queue *queue = nullptr;
        EXPECT_EQ(polytile_mpi_queue_create(ctx, MPI_COMM_WORLD, devices[random.number(0, 2)],
                                            &share, &queue),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        return queue;
    }
    polytile_queue *open_alone() {
        polytile_queue *queue = nullptr;
        EXPECT_EQ(polytile_queue_create(ctx, "host(threads=1)", &queue), POLYTILE_OK);
        return queue;
    }

    Random random{world_seed("MpiPoliciesRandom")};
    Random own{static_cast<uint64_t>(world_rank() + 1)};
    polytile_context *ctx = nullptr;
};

TEST_F(MpiPoliciesRandom, ResultsAreThoseOfOneProcess) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    const int64_t n_rounds = scaled(world_size() > 4 ? 20 : 60);
    for (int64_t round = 0; round < n_rounds && world_most(HasFailure()) == 0; round++) {
        const int64_t extent = random.number(1, 24);
        const std::vector<Step> steps = draw_steps(&random, extent);
        Program over_ranks(ctx, open_over_ranks(), extent), alone(ctx, open_alone(), extent);
        over_ranks.run(steps);
        alone.run(steps);
        for (int a = 0; a < n_arrays; a++)
            EXPECT_EQ(over_ranks.elements[a], alone.elements[a])
                << "round " << round << " array " << a;
    }
}

} // namespace
