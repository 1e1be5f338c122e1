#include "distribute/mpi/faults/failing_mpi.h"
#include "distribute/mpi/world.h"

#include <polytile/mpi.h>
#include <polytile/polytile.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <vector>

/* Every call of MPI fails in turn, on one rank or on all together: nobody hangs, the rank that the
 * call failed on says so, the others say so or have the right result, and all of them end what they
 * began. */

/* What MPI began with before a call of it failed is its own. */
extern "C" const char *__asan_default_options(void) {
    return "detect_leaks=0";
}

namespace {

constexpr int64_t n = 64;

void smooth(const polytile_domain *threads, const polytile_view *views, void *) {
    const auto *x = static_cast<const float *>(views[0].origin);
    auto *y = static_cast<float *>(views[1].origin);
    for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
        y[i] = x[i - 1] + x[i] + x[i + 1];
}

void add_up(const polytile_domain *threads, const polytile_view *views, void *) {
    const auto *x = static_cast<const float *>(views[0].origin);
    auto *s = static_cast<float *>(views[1].origin);
    const auto weight = *static_cast<const int16_t *>(views[2].origin);
    for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
        s[0] += weight * x[i];
}

void set_one(const int64_t *, void *element, void *) {
    const float one = 1;
    std::memcpy(element, &one, sizeof one);
}

/** What ranks do together; a step that fails on one is the last on all. */
class Program {
  public:
    explicit Program(std::string path) : path_(std::move(path)) {}

    /** The first status that was no success here; calls fail from the first but one step on. */
    polytile_status run(const std::function<void()> &let_fail) {
        using Step = polytile_status (Program::*)();
        for (Step step :
             {&Program::open, &Program::make_array, &Program::make_other, &Program::fill,
              &Program::get, &Program::put, &Program::attach, &Program::launch, &Program::reduce,
              &Program::wait, &Program::launch, &Program::launch_spread, &Program::gather,
              &Program::write, &Program::read, &Program::scatter, &Program::detach}) {
            const polytile_status status = (this->*step)();
            if (n_steps_++ == 0)
                let_fail();
            if (status != POLYTILE_OK) {
                said_ = polytile_last_error(ctx_);
                status_ = status;
            }
            if (most_of_all(status != POLYTILE_OK) != 0)
                return status_;
        }
        return status_;
    }
    void end() {
        polytile_queue_destroy(queue_);
        polytile_context_destroy(ctx_);
    }

    bool is_right() const {
        return y_[5] == 3 && sum_[0] == static_cast<float>(3 * n) && has_all_ && has_own_;
    }
    const std::string &said() const { return said_; }
    int n_steps() const { return n_steps_; }

    /** By calls that never fail. */
    static int most_of_all(int value) {
        int most = 0, is_done = 0;
        MPI_Request request;
        PMPI_Iallreduce(&value, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
        while (!is_done) {
            PMPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
            usleep(20);
        }
        return most;
    }

  private:
    polytile_status open() {
        const polytile_status status = polytile_context_create(&ctx_);
        return status != POLYTILE_OK
                   ? status
                   : polytile_mpi_queue_create(ctx_, MPI_COMM_WORLD, "host(threads=1)", nullptr,
                                               &queue_);
    }
    polytile_status make_array() {
        polytile_implementation implementation = {};
        implementation.host = smooth;
        polytile_status status = polytile_kernel_create(ctx_, "smooth[i]: in x[i-1:i+1]; out y[i]",
                                                        &implementation, &smooth_);
        implementation.host = add_up;
        if (status == POLYTILE_OK)
            status = polytile_kernel_create(ctx_, "add_up[i](i16 weight): in x[i]; out sum s[0]",
                                            &implementation, &add_up_);
        return status != POLYTILE_OK
                   ? status
                   : polytile_mpi_array_create(queue_, "u", POLYTILE_F32, 1, &n, nullptr, &u_);
    }
    polytile_status make_other() {
        return polytile_mpi_array_create(queue_, "v", POLYTILE_F32, 1, &n, nullptr, &v_);
    }
    polytile_status fill() { return polytile_mpi_array_fill(u_, set_one, nullptr); }
    /** What this rank owns, as the function that filled it has set it. */
    polytile_status get() {
        own_ = polytile_mpi_array_get_box(u_, 0);
        own_values_.resize(static_cast<size_t>(own_.range[0].hi - own_.range[0].lo + 1));
        const polytile_status status = polytile_mpi_array_get(u_, &own_, own_values_.data());
        has_own_ = polytile_mpi_array_count_boxes(u_) == 1 &&
                   own_values_ == std::vector<float>(own_values_.size(), 1);
        return status;
    }
    polytile_status put() { return polytile_mpi_array_put(u_, &own_, own_values_.data()); }
    polytile_status attach() {
        const int64_t one = 1;
        polytile_array_wrap(ctx_, "x", POLYTILE_F32, 1, &n, x_.data(), &arrays_[0]);
        polytile_array_wrap(ctx_, "y", POLYTILE_F32, 1, &n, y_.data(), &arrays_[1]);
        polytile_array_wrap(ctx_, "s", POLYTILE_F32, 1, &one, sum_.data(), &arrays_[2]);
        return polytile_queue_attach(queue_, 3, arrays_);
    }
    polytile_status launch() {
        return polytile_queue_launch(queue_, smooth_, POLYTILE_INTERIOR(1, n), 2, arrays_, nullptr);
    }
    polytile_status reduce() {
        polytile_array *arrays[] = {arrays_[0], arrays_[2]};
        const polytile_parameter weight = POLYTILE_PARAMETER("weight", 3);
        polytile_launch_options options = {};
        options.n_parameters = 1;
        options.parameters = &weight;
        return polytile_queue_launch(queue_, add_up_, POLYTILE_EXTENTS(n), 2, arrays, &options);
    }
    polytile_status launch_spread() {
        polytile_array *arrays[] = {u_, v_};
        return polytile_queue_launch(queue_, smooth_, POLYTILE_INTERIOR(1, n), 2, arrays, nullptr);
    }
    polytile_status wait() { return polytile_queue_wait(queue_); }
    polytile_status gather() { return polytile_mpi_array_gather(v_, 0, all_.data()); }
    polytile_status write() { return polytile_mpi_array_write(v_, path_.c_str()); }
    polytile_status read() { return polytile_mpi_array_read(u_, path_.c_str()); }
    polytile_status scatter() {
        has_all_ = world_rank_ != 0 || all_[5] == 3;
        return polytile_mpi_array_scatter(u_, 0, all_.data());
    }
    polytile_status detach() { return polytile_queue_detach(queue_, 3, arrays_); }

    const int world_rank_ = world_rank();
    std::string path_, said_;
    std::vector<float> x_ = std::vector<float>(n, 1), y_ = std::vector<float>(n, 0), sum_ = {7};
    std::vector<float> all_ = std::vector<float>(n, 0);
    polytile_domain own_ = {};
    std::vector<float> own_values_;
    bool has_all_ = false, has_own_ = false;
    int n_steps_ = 0;
    polytile_status status_ = POLYTILE_OK;
    polytile_context *ctx_ = nullptr;
    polytile_queue *queue_ = nullptr;
    polytile_kernel *smooth_ = nullptr, *add_up_ = nullptr;
    polytile_array *u_ = nullptr, *v_ = nullptr, *arrays_[3] = {};
};

/** Seconds after which a repetition counts as hanging. */
constexpr unsigned patience_s = 10;
char now[128]; /* what a watchdog writes */

void say_where(int) {
    (void)!write(STDERR_FILENO, mpi_get_failed(), std::strlen(mpi_get_failed()));
    (void)!write(STDERR_FILENO, " ", 1);
    (void)!write(STDERR_FILENO, now, std::strlen(now));
    _exit(3);
}

int n_wrong = 0;

void blame(const std::string &what) {
    std::fprintf(stderr, "rank %d: %.*s: %s\n", world_rank(),
                 static_cast<int>(std::strcspn(now, "\n")), now, what.c_str());
    n_wrong++;
}

/** One repetition; whether a call failed on any rank. */
bool repeat(const std::string &path, bool together, int who, int64_t nth) {
    std::snprintf(now, sizeof now, "call %lld of %s hangs or goes wrong\n",
                  static_cast<long long>(nth),
                  together ? "all" : ("rank " + std::to_string(who)).c_str());
    alarm(patience_s);
    Program program(path);
    const polytile_status status = program.run([&] {
        if (together)
            mpi_fail_together(nth);
        else
            mpi_fail_alone(world_rank() == who ? nth : 0);
    });
    const std::string failed = mpi_stop_failing();
    const bool has_failed = !failed.empty();
    const bool any_failed = Program::most_of_all(has_failed) != 0;
    const bool anyone_says_so = Program::most_of_all(status != POLYTILE_OK) != 0;
    if (status == POLYTILE_OK && !anyone_says_so && !program.is_right())
        blame("wrong results after " + failed);
    if (status != POLYTILE_OK && program.said().empty())
        blame("nothing was said of " + failed + " in step " + std::to_string(program.n_steps()));
    if (status != POLYTILE_OK && status != POLYTILE_DEVICE && status != POLYTILE_IO)
        blame(std::string(polytile_status_text(status)) + ": " + program.said());
    if (status != POLYTILE_OK && !any_failed)
        blame("without a fault: " + program.said());
    program.end();
    alarm(0);
    std::filesystem::remove(path + ".part");
    return any_failed;
}

} // namespace

int main(int argc, char **argv) {
    world_begin(&argc, &argv);
    std::signal(SIGALRM, say_where);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const std::string path = argc > 1 ? argv[1] : "/tmp/polytile-mpi-faults.npy";
    if (argc > 3)
        repeat(path, std::atoi(argv[2]) < 0, std::atoi(argv[2]), std::atoi(argv[3]));
    /* Many ranks on few cores take their time. */
    const uint64_t seed = world_seed("MpiFaults");
    const int64_t step = std::max<int64_t>(1, world_size() * world_size() / scaled(4));
    for (int who = -1; argc < 4 && who < world_size(); who++) {
        int64_t nth = 1 + static_cast<int64_t>(seed % static_cast<uint64_t>(step));
        while (repeat(path, who < 0, who, nth))
            nth += step;
        if (world_rank() == 0)
            std::printf("every %lld-th of %lld calls of %s\n", static_cast<long long>(step),
                        static_cast<long long>(nth - step),
                        who < 0 ? "all together" : ("rank " + std::to_string(who)).c_str());
    }
    const int n_bad = Program::most_of_all(n_wrong);
    if (world_rank() == 0)
        std::filesystem::remove(path);
    MPI_Finalize();
    return n_bad != 0;
}
