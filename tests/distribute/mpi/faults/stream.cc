#include "distribute/mpi/faults/failing_mpi.h"
#include "distribute/mpi/world.h"

#include <polytile/mpi.h>
#include <polytile/stream.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <deque>
#include <functional>
#include <string>
#include <vector>

/* Every call of MPI that a stream over ranks makes fails in turn, on one rank or on all together:
 * nobody hangs, no rank takes a wrong frame, the rank that the call failed on names the call, and
 * all others that do not get all frames name that rank. */

/* What MPI began with before a call of it failed is its own. */
extern "C" const char *__asan_default_options(void) {
    return "detect_leaks=0";
}

namespace {

/** Seconds after which a repetition counts as hanging. */
constexpr unsigned patience_s = 30;
constexpr int64_t n_frames = 6, n = 20000; /* no frame fits in what MPI sends at once */
char now[128];                             /* what a watchdog writes */
int n_wrong = 0;

void say_where(int) {
    (void)!write(STDERR_FILENO, mpi_get_failed(), std::strlen(mpi_get_failed()));
    (void)!write(STDERR_FILENO, " ", 1);
    (void)!write(STDERR_FILENO, now, std::strlen(now));
    _exit(3);
}

void blame(const std::string &what) {
    std::fprintf(stderr, "rank %d: %.*s: %s\n", world_rank(),
                 static_cast<int>(std::strcspn(now, "\n")), now, what.c_str());
    n_wrong++;
}

int most_of_all(int value) {
    int most = 0, is_done = 0;
    MPI_Request request;
    PMPI_Iallreduce(&value, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
    for (; !is_done; usleep(20))
        PMPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    return most;
}

void add_one(const polytile_domain *threads, const polytile_view *views, void *) {
    const auto *x = static_cast<const int64_t *>(views[0].origin);
    auto *y = static_cast<int64_t *>(views[1].origin);
    for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
        y[i] = x[i] + 1;
}

const std::string graph_text =
    "digraph { { node [type=i64, extents=" + std::to_string(n) +
    "]; x; m; y }\n{ node [kernel=\"plus[i]: in p[i]; out q[i]\", seconds=0.001]; f [on=a]; g "
    "[on=b] }\nx -> f [as=p]; f -> m [as=q]; m -> g [as=p]; g -> y [as=q] }";

/** What ranks do together: the first one feeds, the last one takes. */
class Program {
  public:
    Program(bool overlaps, bool drops) : overlaps_(overlaps), drops_(drops) {}
    ~Program() { polytile_context_destroy(ctx_); }
    Program(const Program &) = delete;
    Program &operator=(const Program &) = delete;

    /** All that makes no call of MPI. */
    void prepare() {
        polytile_implementation made = {};
        made.host = add_one;
        polytile_graph_options how = {};
        how.no_overlap = !overlaps_;
        polytile_machine *machine = nullptr;
        const std::string machine_text = "digraph { a [device=\"host(threads=1)\"]; b "
                                         "[device=\"host(threads=1,memory=8MiB)\", rank=" +
                                         std::to_string(last_) + "] }";
        note(polytile_context_create(&ctx_));
        note(polytile_graph_parse(ctx_, graph_text.c_str(), &graph_));
        note(polytile_machine_parse(ctx_, machine_text.c_str(), &machine));
        note(polytile_graph_bind(graph_, "plus", &made));
        note(polytile_graph_plan_create(graph_, machine, &how, &plan_));
        note(polytile_array_wrap(ctx_, "line", POLYTILE_I64, 1, &n, line_.data(), &array_));
    }

    /** is_made: called once all ranks have the stream. */
    void run(const std::function<void()> &is_made) {
        polytile_stream *stream = nullptr;
        polytile_stream_options options = {};
        options.drops_when_full = drops_;
        note(polytile_mpi_stream_create(graph_, plan_, MPI_COMM_WORLD, &options, &stream));
        if (status_ == POLYTILE_OK)
            is_made();
        const size_t depth = static_cast<size_t>(polytile_stream_get_depth(stream));
        for (int64_t f = 0; status_ == POLYTILE_OK && f < n_frames; f++) {
            if (fed_.size() == depth)
                take(stream);
            if (status_ == POLYTILE_OK)
                feed(stream, 10 * f);
        }
        while (status_ == POLYTILE_OK && !fed_.empty())
            take(stream);
        polytile_stream_destroy(stream);
    }

    polytile_status status() const { return status_; }
    const std::string &said() const { return said_; }
    bool has_wrong_frame() const { return has_wrong_frame_; }

  private:
    void feed(polytile_stream *stream, int64_t value) {
        int64_t frame = -1;
        std::fill(line_.begin(), line_.end(), value);
        note(polytile_stream_push(stream, rank_ == 0, &array_, &frame));
        if (frame >= 0)
            fed_.push_back(value);
    }
    void take(polytile_stream *stream) {
        const bool takes = rank_ == last_;
        note(polytile_stream_pull(stream, takes, &array_, nullptr));
        has_wrong_frame_ =
            has_wrong_frame_ || (takes && status_ == POLYTILE_OK &&
                                 line_ != std::vector<int64_t>(line_.size(), fed_.front() + 2));
        fed_.pop_front();
    }
    void note(polytile_status status) {
        if (status == POLYTILE_OK || status_ != POLYTILE_OK)
            return;
        said_ = polytile_last_error(ctx_);
        status_ = status;
    }

    const bool overlaps_, drops_;
    const int rank_ = world_rank(), last_ = world_size() - 1;
    std::vector<int64_t> line_ = std::vector<int64_t>(n);
    polytile_status status_ = POLYTILE_OK;
    std::string said_;
    std::deque<int64_t> fed_; /* what frames in flight hold */
    bool has_wrong_frame_ = false;
    polytile_context *ctx_ = nullptr;
    polytile_graph *graph_ = nullptr;
    polytile_graph_plan *plan_ = nullptr;
    polytile_array *array_ = nullptr;
};

bool says(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

/** One repetition; who: the rank on which the nth call fails, -1: on all together. Returns whether
 * a call failed on any rank. */
bool repeat(bool overlaps, bool drops, int who, int64_t nth) {
    std::snprintf(now, sizeof now, "call %lld of %s, %s%s, hangs or goes wrong\n",
                  static_cast<long long>(nth),
                  who < 0 ? "all" : ("rank " + std::to_string(who)).c_str(),
                  overlaps ? "overlapped" : "in cycles", drops ? ", with drops" : "");
    alarm(patience_s);
    Program program(overlaps, drops);
    program.prepare();
    if (who < 0)
        mpi_fail_together(nth);
    program.run([&] {
        if (who >= 0)
            mpi_fail_alone(world_rank() == who ? nth : 0);
    });
    const std::string failed = mpi_stop_failing(), &said = program.said();
    const bool any_failed = most_of_all(!failed.empty()) != 0;
    const bool is_right = program.status() == POLYTILE_OK;
    if (program.has_wrong_frame())
        blame("a wrong frame after " + failed);
    if (!is_right && !any_failed)
        blame("without a fault: " + said);
    if (!is_right && program.status() != POLYTILE_DEVICE)
        blame(std::string(polytile_status_text(program.status())) + ": " + said);
    if (!is_right && !failed.empty() && !says(said, failed + ":"))
        blame("the call that failed, " + failed + ", is not named: " + said);
    if (!is_right && failed.empty() &&
        (!says(said, "rank " + std::to_string(who) + ": ") || !says(said, "MPI_")))
        blame("rank and call are not named: " + said);
    alarm(0);
    return any_failed;
}

/** Let every step-th call fail, of all three ways in turn. */
void repeat_all(int who, int64_t step, int64_t first) {
    int64_t n_calls = 0;
    for (int way = 0; way < 3; way++) {
        int64_t nth = 1 + first;
        while (repeat(way != 1, way == 2, who, nth))
            nth += step;
        n_calls += nth - 1 - first;
    }
    if (world_rank() == 0)
        std::printf("every %lld-th of some %lld calls of %s\n", static_cast<long long>(step),
                    static_cast<long long>(n_calls),
                    who < 0 ? "all together" : ("rank " + std::to_string(who)).c_str());
}

} // namespace

int main(int argc, char **argv) {
    world_begin(&argc, &argv);
    std::signal(SIGALRM, say_where);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const uint64_t seed = world_seed("MpiStreamFaults");
    /* Many ranks on few cores take their time. */
    const int64_t step = std::max<int64_t>(1, 5 * world_size() * world_size() / scaled(10));
    if (argc > 3)
        repeat(std::atoi(argv[1]) != 1, std::atoi(argv[1]) == 2, std::atoi(argv[2]),
               std::atoi(argv[3]));
    for (int who = -1; argc < 4 && who < world_size(); who++)
        repeat_all(who, step, static_cast<int64_t>(seed % static_cast<uint64_t>(step)));
    const int n_bad = most_of_all(n_wrong);
    MPI_Finalize();
    return n_bad != 0;
}
