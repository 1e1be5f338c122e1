#include "distribute/mpi/random_messages.h"

#include <csignal>
#include <cstring>
#include <polytile/message.h>
#include <polytile/mpi.h>
#include <string>

/* Ranks exchange, combine and agree, or take rows from a counter, or their slots send messages, or
 * frames go from rank to rank, until one of them is killed at a random point. */

namespace {

void work(const Joined &joined, RandomMessages &messages) {
    float value = 1, sum = 0;
    void *partial[] = {&value};
    const pti_combination combination = {POLYTILE_SUM, POLYTILE_F32, 1, partial, &sum};
    messages.run();
    joined.functions().combine(joined.transport, &combination, false);
    joined.functions().agree(joined.transport, POLYTILE_OK);
}

void fill_row(const polytile_domain *threads, const polytile_view *views, void *) {
    auto *y = static_cast<float *>(views[0].origin);
    for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
        y[i] = static_cast<float>(i);
    usleep(100);
}

POLYTILE_TEAM_KERNEL(turn, (s), (float, y, 1)) {
    const int right = (pt_rank() + 1) % pt_ranks(),
              left = (pt_rank() + pt_ranks() - 1) % pt_ranks();
    for (int k = 0; k < 20; k++)
        if (pt_sendrecv_replace(&PT_AT(y, s), 4, right, left, 0, nullptr) || pt_barrier())
            return;
}

/** Launches that are dealt out, or whose slots talk, and arrays that come together. */
class Rows {
  public:
    Rows(const char *policy, const char *declaration, const polytile_implementation &implementation,
         int64_t n_rows)
        : n(n_rows) {
        polytile_share_options share = {};
        share.policy = policy;
        check(polytile_context_create(&ctx_));
        check(polytile_mpi_queue_create(ctx_, MPI_COMM_WORLD, "host(threads=1)", &share, &queue_));
        check(polytile_kernel_create(ctx_, declaration, &implementation, &kernel_));
        check(polytile_array_wrap(ctx_, "y", POLYTILE_F32, 1, &n, y_.data(), &array_));
    }
    void run() {
        check(polytile_queue_attach(queue_, 1, &array_));
        check(polytile_queue_launch(queue_, kernel_, POLYTILE_EXTENTS(n), 1, &array_, nullptr));
        check(polytile_queue_detach(queue_, 1, &array_));
    }

  private:
    void check(polytile_status status) const {
        if (status == POLYTILE_OK)
            return;
        std::fprintf(stderr, "%s\n", polytile_last_error(ctx_));
        _exit(3);
    }

    int64_t n;
    std::vector<float> y_ = std::vector<float>(n);
    polytile_context *ctx_ = nullptr;
    polytile_queue *queue_ = nullptr;
    polytile_kernel *kernel_ = nullptr;
    polytile_array *array_ = nullptr;
};

/** Frames that go through a chain of actors, one a rank. */
class Frames {
  public:
    Frames() {
        polytile_graph *graph = nullptr;
        polytile_machine *machine = nullptr;
        polytile_graph_plan *plan = nullptr;
        polytile_implementation made = {};
        std::string text = "digraph { { node [type=f32, extents=4]; x0", units = "digraph {";
        for (int r = 1; r <= world_size(); r++)
            text += "; x" + std::to_string(r);
        text += " }";
        for (int r = 0; r < world_size(); r++) {
            const std::string k = std::to_string(r);
            text += "a" + k + " [kernel=\"copy[i]: in p[i]; out q[i]\", seconds=1e-4, on=u" + k +
                    "]; x" + k + " -> a" + k + " [as=p]; a" + k + " -> x" + std::to_string(r + 1) +
                    " [as=q];";
            units += " u" + k + " [device=\"host(threads=1)\", rank=" + k + "];";
        }
        made.host = copy;
        check(polytile_context_create(&ctx_));
        check(polytile_graph_parse(ctx_, (text + "}").c_str(), &graph));
        check(polytile_graph_bind(graph, "copy", &made));
        check(polytile_machine_parse(ctx_, (units + "}").c_str(), &machine));
        check(polytile_graph_plan_create(graph, machine, nullptr, &plan));
        check(polytile_mpi_stream_create(graph, plan, MPI_COMM_WORLD, nullptr, &stream_));
        check(polytile_array_wrap(ctx_, "port", POLYTILE_F32, 1, &n, line_, &port_));
    }
    void run() {
        const int last = world_size() - 1;
        if (n_pushed_++ >= polytile_stream_get_depth(stream_))
            check(polytile_stream_pull(stream_, world_rank() == last, &port_, nullptr));
        check(polytile_stream_push(stream_, world_rank() == 0, &port_, nullptr));
    }

  private:
    static void copy(const polytile_domain *threads, const polytile_view *views, void *) {
        for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
            static_cast<float *>(views[1].origin)[i] = static_cast<float *>(views[0].origin)[i];
    }
    void check(polytile_status status) const {
        if (status == POLYTILE_OK)
            return;
        std::fprintf(stderr, "%s\n", polytile_last_error(ctx_));
        _exit(3);
    }

    int64_t n = 4, n_pushed_ = 0;
    float line_[4] = {};
    polytile_context *ctx_ = nullptr;
    polytile_stream *stream_ = nullptr;
    polytile_array *port_ = nullptr;
};

/** The victim dies between two calls or, by a timer, within one. */
void arrange_death(Random &random) {
    const int victim = static_cast<int>(random.number(0, world_size() - 1));
    const auto delay_us = static_cast<useconds_t>(random.number(1, 500000));
    if (world_rank() != victim)
        return;
    std::printf("rank %d is killed after %u us\n", victim, static_cast<unsigned>(delay_us));
    std::fflush(stdout);
    std::signal(SIGALRM, [](int) { std::raise(SIGKILL); });
    ualarm(delay_us, 0);
}

} // namespace

int main(int argc, char **argv) {
    world_begin(&argc, &argv);
    Random random(world_seed("MpiKilled"));
    if (argc > 1 && std::strcmp(argv[1], "frames") == 0) {
        Frames frames;
        arrange_death(random);
        for (;;)
            frames.run();
    }
    if (argc > 1) {
        const bool are_slots = std::strcmp(argv[1], "slots") == 0;
        polytile_implementation filling = {};
        filling.host = fill_row;
        Rows rows(are_slots ? nullptr : "guided",
                  are_slots ? "turn[s]: inout y[s]" : "fill[i]: out y[i]",
                  are_slots ? turn_kernel : filling, are_slots ? 8 : 200);
        arrange_death(random);
        for (;;)
            rows.run();
    }
    const Joined joined;
    RandomMessages messages(joined, random);
    arrange_death(random);
    for (;;)
        work(joined, messages);
}
