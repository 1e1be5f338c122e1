#include "distribute/mpi/faults/program.h"

#include <polytile/message.h>

#include <algorithm>
#include <cstring>

namespace {

void smooth(const polytile_domain *threads, const polytile_view *views, void *) {
    const auto *x = static_cast<const float *>(views[0].origin);
    auto *y = static_cast<float *>(views[1].origin);
    for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
        y[i] = x[i - 1] + x[i] + x[i + 1];
}

void add_up(const polytile_domain *threads, const polytile_view *views, void *) {
    const auto *x = static_cast<const float *>(views[0].origin);
    auto *s = static_cast<float *>(views[1].origin), *most = static_cast<float *>(views[2].origin);
    const auto weight = *static_cast<const int16_t *>(views[3].origin);
    for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++) {
        s[0] += weight * x[i];
        most[0] = std::max(most[0], x[i]);
    }
}

void set_one(const int64_t *, void *element, void *) {
    const float one = 1;
    std::memcpy(element, &one, sizeof one);
}

/* Each slot sends a number to the right, and a long row to the left. */
POLYTILE_TEAM_KERNEL(turn, (s), (int32_t, w, 2)) {
    const int right = (pt_rank() + 1) % pt_ranks(),
              left = (pt_rank() + pt_ranks() - 1) % pt_ranks();
    PT_AT(w, s, 0) = pt_rank();
    PT_AT(w, s, 1) = pt_rank();
    (void)(pt_sendrecv_replace(&PT_AT(w, s, 0), 4, right, left, 0, nullptr) || pt_barrier() ||
           pt_sendrecv_replace(&PT_AT(w, s, 1), 4 * (PT_EXTENT(w, 1) - 1), left, right, 1,
                               nullptr));
}

} // namespace

const char *Program::policy = nullptr;

void Program::read_policy(int *argc, char **argv) {
    const char option[] = "--policy=";
    const size_t length = std::strlen(option);
    if (*argc > 1 && std::strncmp(argv[*argc - 1], option, length) == 0)
        policy = argv[--*argc] + length;
}

void Program::note(polytile_status status) {
    if (status == POLYTILE_OK)
        return;
    said_ = polytile_last_error(ctx_);
    status_ = status;
}

polytile_status Program::run(int n_before, const std::function<void()> &let_fail) {
    using Step = polytile_status (Program::*)();
    for (Step step : {&Program::make_context, &Program::make_kernels,  &Program::open,
                      &Program::make_array,   &Program::make_other,    &Program::fill,
                      &Program::get,          &Program::put,           &Program::wrap,
                      &Program::attach,       &Program::launch,        &Program::reduce,
                      &Program::wait,         &Program::launch,        &Program::reduce,
                      &Program::wait,         &Program::turn,          &Program::launch_spread,
                      &Program::launch_back,  &Program::launch_spread, &Program::launch_back,
                      &Program::turn,         &Program::wait,          &Program::launch_spread,
                      &Program::launch_back,  &Program::launch_spread, &Program::launch_back,
                      &Program::wait,         &Program::fill,          &Program::launch_spread,
                      &Program::gather,       &Program::write,         &Program::read,
                      &Program::scatter,      &Program::detach}) {
        if (n_steps_++ == n_before)
            let_fail();
        const polytile_status status = (this->*step)();
        note(status);
        if (most_of_all(status != POLYTILE_OK) != 0)
            return status_;
    }
    return status_;
}

/** The first wait tells ranks of what only some of them launched. */
polytile_status Program::go_on() {
    status_ = POLYTILE_OK;
    went_on_ = most_of_all(!is_attached_) == 0;
    if (!went_on_)
        return POLYTILE_OK;
    wait();
    for (int k = 0; k < 2; k++) {
        note(launch());
        note(reduce());
        note(wait());
        note(turn());
        note(fill());
        note(launch_spread());
        note(launch_back());
        note(launch_spread());
        note(launch_back());
        note(wait());
    }
    note(fill());
    note(launch_spread());
    note(gather());
    note(scatter());
    note(detach());
    return status_;
}

void Program::end() {
    polytile_queue_destroy(queue_);
    polytile_context_destroy(ctx_);
}

bool Program::is_right() const {
    for (int64_t slot = 0; slot < n_slots; slot++) {
        const int32_t *row = &turned_[static_cast<size_t>(slot * n_columns)];
        if (row[0] != (slot + n_slots - 1) % n_slots || row[1] != (slot + 1) % n_slots)
            return false;
    }
    return y_[5] == 3 && sum_[0] == static_cast<float>(3 * n) && sum_[1] == 1 && has_all_ &&
           has_own_;
}

int Program::most_of_all(int value) {
    int most = 0, is_done = 0;
    MPI_Request request;
    PMPI_Iallreduce(&value, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
    while (!is_done) {
        PMPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
        usleep(20);
    }
    return most;
}

polytile_status Program::make_context() {
    return polytile_context_create(&ctx_);
}

polytile_status Program::make_kernels() {
    polytile_implementation implementation = {};
    implementation.host = smooth;
    polytile_status status = polytile_kernel_create(ctx_, "smooth[i]: in x[i-1:i+1]; out y[i]",
                                                    &implementation, &smooth_);
    implementation.host = add_up;
    if (status == POLYTILE_OK)
        status = polytile_kernel_create(ctx_, "turn[s]: out w[s, :]", &turn_kernel, &turn_);
    return status != POLYTILE_OK
               ? status
               : polytile_kernel_create(
                     ctx_, "add_up[i](i16 weight): in x[i]; out sum s[0]; out max t[0]",
                     &implementation, &add_up_);
}

polytile_status Program::open() {
    polytile_share_options share = {};
    share.policy = policy;
    return polytile_mpi_queue_create(ctx_, MPI_COMM_WORLD, "host(threads=1)", &share, &queue_);
}

polytile_status Program::make_array() {
    return polytile_mpi_array_create(queue_, "u", POLYTILE_F32, 1, &n, nullptr, &u_);
}

polytile_status Program::make_other() {
    return polytile_mpi_array_create(queue_, "v", POLYTILE_F32, 1, &n, nullptr, &v_);
}

polytile_status Program::fill() {
    const polytile_status status = polytile_mpi_array_fill(u_, set_one, nullptr);
    return status != POLYTILE_OK ? status : polytile_mpi_array_fill(v_, set_one, nullptr);
}

/** What this rank owns, as the function that filled it has set it. */
polytile_status Program::get() {
    own_ = polytile_mpi_array_get_box(u_, 0);
    own_values_.resize(static_cast<size_t>(own_.range[0].hi - own_.range[0].lo + 1));
    const polytile_status status = polytile_mpi_array_get(u_, &own_, own_values_.data());
    has_own_ = polytile_mpi_array_count_boxes(u_) == 1 &&
               own_values_ == std::vector<float>(own_values_.size(), 1);
    return status;
}

polytile_status Program::put() {
    return polytile_mpi_array_put(u_, &own_, own_values_.data());
}

polytile_status Program::wrap() {
    const int64_t one = 1, slots[] = {n_slots, n_columns};
    polytile_status status =
        polytile_array_wrap(ctx_, "x", POLYTILE_F32, 1, &n, x_.data(), &arrays_[0]);
    if (status == POLYTILE_OK)
        status = polytile_array_wrap(ctx_, "y", POLYTILE_F32, 1, &n, y_.data(), &arrays_[1]);
    if (status == POLYTILE_OK)
        status = polytile_array_wrap(ctx_, "s", POLYTILE_F32, 1, &one, &sum_[0], &arrays_[2]);
    if (status == POLYTILE_OK)
        status = polytile_array_wrap(ctx_, "t", POLYTILE_F32, 1, &one, &sum_[1], &arrays_[3]);
    if (status == POLYTILE_OK)
        status =
            polytile_array_wrap(ctx_, "w", POLYTILE_I32, 2, slots, turned_.data(), &arrays_[4]);
    return status;
}

polytile_status Program::attach() {
    const polytile_status status = polytile_queue_attach(queue_, 5, arrays_);
    is_attached_ = status == POLYTILE_OK;
    return status;
}

polytile_status Program::launch() {
    return polytile_queue_launch(queue_, smooth_, POLYTILE_INTERIOR(1, n), 2, arrays_, nullptr);
}

polytile_status Program::reduce() {
    polytile_array *arrays[] = {arrays_[0], arrays_[2], arrays_[3]};
    const polytile_parameter weight = POLYTILE_PARAMETER("weight", 3);
    polytile_launch_options options = {};
    options.n_parameters = 1;
    options.parameters = &weight;
    return polytile_queue_launch(queue_, add_up_, POLYTILE_EXTENTS(n), 3, arrays, &options);
}

polytile_status Program::launch_spread() {
    polytile_array *arrays[] = {u_, v_};
    return polytile_queue_launch(queue_, smooth_, POLYTILE_INTERIOR(1, n), 2, arrays, nullptr);
}

polytile_status Program::launch_back() {
    polytile_array *arrays[] = {v_, u_};
    return polytile_queue_launch(queue_, smooth_, POLYTILE_INTERIOR(1, n), 2, arrays, nullptr);
}

polytile_status Program::turn() {
    return polytile_queue_launch(queue_, turn_, POLYTILE_EXTENTS(n_slots), 1, &arrays_[4], nullptr);
}

polytile_status Program::wait() {
    return polytile_queue_wait(queue_);
}

polytile_status Program::gather() {
    return polytile_mpi_array_gather(v_, 0, all_.data());
}

polytile_status Program::write() {
    return polytile_mpi_array_write(v_, path_.c_str());
}

polytile_status Program::read() {
    return polytile_mpi_array_read(u_, path_.c_str());
}

polytile_status Program::scatter() {
    has_all_ = world_rank_ != 0 || all_[5] == 3;
    return polytile_mpi_array_scatter(u_, 0, all_.data());
}

polytile_status Program::detach() {
    is_attached_ = false;
    return polytile_queue_detach(queue_, 5, arrays_);
}
