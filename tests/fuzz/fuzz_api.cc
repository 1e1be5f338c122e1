#include "fuzz/fuzz.h"
#include "queue/program_list.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <set>
#include <vector>

/* Calls in any order: the bytes decode to calls on contexts, arrays, kernels, plans, devices and
 * queues. A model
 * knows which must succeed and which must be refused, and what the arrays then hold; arrays are
 * compared whenever the program may look at them. */

namespace {

constexpr int64_t extent = 7; /* of every dimension */
constexpr size_t most_objects = 6;
constexpr int most_calls = 60;

struct Queue {
    polytile_queue *handle;
};

struct Array {
    int n_dims;
    bool is_internal;
    polytile_array *handle;
    const Queue *queue;             /* that holds it; NULL: none */
    std::vector<uint32_t> memory;   /* the library's to use while a queue holds it */
    std::vector<uint32_t> expected; /* at the end of what was called so far */
};

/** A launch that is to be made, run, planned or checked. */
struct Drawn {
    size_t k; /* the kernel's number */
    const ProgramKernel &kernel;
    std::vector<Array *> arrays; /* empty: there are none to launch on */
    polytile_domain threads;
    bool is_inside; /* of the arrays */
};

struct Plan {
    polytile_plan *handle;
    size_t kernel; /* that was planned; it may have ended since */
    polytile_domain threads;
    bool is_limited;
};

/** A context with what was made in it, and the model of that. */
class World {
  public:
    explicit World(Bytes *bytes) : bytes_(bytes) {
        require(polytile_context_create(&ctx_) == POLYTILE_OK, "a context is made");
        kernels_.resize(program_kernels().size());
    }
    /** What queues still hold comes back first. */
    ~World() {
        polytile_context_destroy(ctx_);
        for (const auto &array : arrays_)
            compare(*array);
    }
    World(const World &) = delete;
    World &operator=(const World &) = delete;

    void call(World *other);

  private:
    using Call = void (World::*)();

    /** A call succeeds or is refused as the model says, with a text. */
    void expect(polytile_status status, bool succeeds) const {
        require_told(ctx_, status);
        if (succeeds)
            require(status == POLYTILE_OK,
                    std::string("a call succeeds: ") + polytile_last_error(ctx_));
        else
            require(status != POLYTILE_OK, "a call is refused");
    }

    void compare(const Array &array) const {
        for (size_t k = 0; !array.is_internal && k < array.memory.size(); k++)
            require(array.memory[k] == array.expected[k],
                    "element " + std::to_string(k) + " is " + std::to_string(array.memory[k]) +
                        ", not " + std::to_string(array.expected[k]));
    }

    void give_back(Array *array) const {
        array->queue = nullptr;
        require(polytile_array_is_complete(array->handle), "an array is complete");
        compare(*array);
    }

    template <class T> T *any(const std::vector<std::unique_ptr<T>> &of) {
        const auto most = static_cast<int64_t>(of.size());
        return most == 0 ? nullptr : of[static_cast<size_t>(bytes_->number(0, most - 1))].get();
    }
    template <class T> static void forget(std::vector<std::unique_ptr<T>> *of, const T *gone) {
        of->erase(std::find_if(of->begin(), of->end(),
                               [&](const std::unique_ptr<T> &at) { return at.get() == gone; }));
    }

    /** Made when it is first launched, which takes its time. */
    polytile_kernel *kernel_of(size_t k) {
        const ProgramKernel &kernel = program_kernels()[k];
        if (kernels_[k] == nullptr)
            expect(polytile_kernel_create(ctx_, kernel.declaration, kernel.implementation,
                                          &kernels_[k]),
                   true);
        return kernels_[k];
    }

    /** Arrays of this context, or now and then of the other. */
    std::vector<Array *> some_arrays() {
        std::vector<Array *> chosen;
        for (int64_t n = bytes_->number(1, 3); n > 0; n--) {
            World *from = bytes_->byte() > 250 && other_ != nullptr ? other_ : this;
            if (Array *array = any(from->arrays_))
                chosen.push_back(array);
        }
        return chosen;
    }
    static std::vector<polytile_array *> handles_of(const std::vector<Array *> &arrays) {
        std::vector<polytile_array *> handles;
        for (const Array *array : arrays)
            handles.push_back(array->handle);
        return handles;
    }
    bool is_mine(const Array *array) const {
        return std::any_of(arrays_.begin(), arrays_.end(),
                           [&](const std::unique_ptr<Array> &at) { return at.get() == array; });
    }
    static bool has_doubles(const std::vector<Array *> &arrays) {
        return std::set<Array *>(arrays.begin(), arrays.end()).size() < arrays.size();
    }

    Array *make(int n_dims, bool is_internal);
    void make_array();
    void make_internal();
    void end_array();
    void make_queue();
    void end_queue();
    using MovingCall = decltype(&polytile_queue_attach);
    template <class May, class Go> void move(MovingCall moving, May may, Go go);
    void attach();
    void detach();
    void launch();
    void launch_often();
    void wait();
    void wait_for();
    void pause();
    void resume();
    void report();
    void make_device();
    void end_device();
    void run();
    void end_kernel();
    void make_plan();
    void end_plan();
    void run_plan();
    void check();
    void check_run();

    size_t any_kernel() {
        const auto most = static_cast<int64_t>(count_plain_kernels()) - 1;
        return static_cast<size_t>(bytes_->number(0, most));
    }
    Drawn draw();
    std::vector<Array *> operands_of(const ProgramKernel &kernel);
    static bool are_free(const std::vector<Array *> &arrays) {
        return std::all_of(arrays.begin(), arrays.end(),
                           [](const Array *array) { return array->queue == nullptr; });
    }
    void compare_free(const std::vector<Array *> &arrays) const;
    polytile_domain threads_of(const ProgramKernel &kernel, bool *is_inside);
    static bool has_dims_of(const ProgramKernel &kernel, const std::vector<Array *> &arrays);
    static bool is_free_of_clashes(const ProgramKernel &kernel, const std::vector<Array *> &arrays);
    static bool may_be_apart(const ProgramKernel &kernel, const std::vector<Array *> &arrays);
    void expect_launch(polytile_status status, bool is_right, const ProgramKernel &kernel,
                       const std::vector<Array *> &arrays) const;
    void model(const ProgramKernel &kernel, const polytile_domain &threads,
               const std::vector<Array *> &arrays) const;
    polytile_launch_options draw_options();

    Bytes *bytes_;
    World *other_ = nullptr;
    polytile_context *ctx_ = nullptr;
    std::vector<polytile_kernel *> kernels_;
    std::vector<std::unique_ptr<Array>> arrays_;
    std::vector<std::unique_ptr<Queue>> queues_;
    std::vector<polytile_device *> devices_;
    std::vector<std::unique_ptr<Plan>> plans_;
    int64_t block_[3] = {};
};

/* Arrays. */

Array *World::make(int n_dims, bool is_internal) {
    const auto n = static_cast<size_t>(n_dims == 1 ? extent : extent * extent);
    arrays_.push_back(
        std::make_unique<Array>(Array{n_dims, is_internal, nullptr, nullptr,
                                      std::vector<uint32_t>(n), std::vector<uint32_t>(n)}));
    Array *array = arrays_.back().get();
    for (size_t k = 0; !is_internal && k < n; k++)
        array->memory[k] = array->expected[k] = static_cast<uint32_t>(7 * k + arrays_.size());
    return array;
}

void World::make_array() {
    static const char *const names[] = {"x", "y", "A", "B"};
    const int64_t extents[] = {extent, extent};
    if (arrays_.size() >= most_objects)
        return;
    Array *array = make(static_cast<int>(bytes_->number(1, 2)), false);
    expect(polytile_array_wrap(ctx_, names[bytes_->number(0, 3)], POLYTILE_U32, array->n_dims,
                               extents, array->memory.data(), &array->handle),
           true);
}

void World::make_internal() {
    const int64_t extents[] = {extent, extent};
    const Queue *queue = any(queues_);
    if (arrays_.size() >= most_objects || queue == nullptr)
        return;
    Array *array = make(static_cast<int>(bytes_->number(1, 2)), true);
    expect(polytile_queue_create_array(queue->handle, "internal", POLYTILE_U32, array->n_dims,
                                       extents, &array->handle),
           true);
    array->queue = queue;
}

/** What is queued is waited for, and what it wrote comes back. */
void World::end_array() {
    Array *array = any(arrays_);
    if (array == nullptr)
        return;
    polytile_array_destroy(array->handle);
    compare(*array);
    forget(&arrays_, array);
}

/* Queues. */

void World::make_queue() {
    static const char *const devices[] = {"host",
                                          "host(memory=1KiB)",
                                          "host(memory=200B,threads=1)",
                                          "host,host",
                                          "host(memory=1KiB),host(memory=4KiB)",
                                          "host(memory=0)"};
    if (queues_.size() >= 2)
        return;
    const int64_t which = bytes_->number(0, 5);
    polytile_queue *made = nullptr;
    expect(polytile_queue_create(ctx_, devices[which], &made), which != 5);
    require((made != nullptr) == (which != 5), "a queue comes with success");
    if (made != nullptr)
        queues_.push_back(std::make_unique<Queue>(Queue{made}));
}

void World::end_queue() {
    const Queue *queue = any(queues_);
    if (queue == nullptr)
        return;
    polytile_queue_destroy(queue->handle);
    for (size_t k = arrays_.size(); k-- > 0;) {
        Array *array = arrays_[k].get();
        if (array->queue == queue && array->is_internal)
            forget(&arrays_, array);
        else if (array->queue == queue)
            give_back(array);
    }
    forget(&queues_, queue);
}

/** Of some arrays, all or none: those that may go where the call takes them, each once. */
template <class May, class Go> void World::move(MovingCall moving, May may, Go go) {
    const Queue *queue = any(queues_);
    const std::vector<Array *> arrays = some_arrays();
    if (queue == nullptr)
        return;
    bool succeeds = !arrays.empty() && !has_doubles(arrays);
    for (const Array *array : arrays)
        succeeds = succeeds && may(queue, array);
    expect(moving(queue->handle, static_cast<int>(arrays.size()), handles_of(arrays).data()),
           succeeds);
    for (Array *array : arrays)
        if (succeeds)
            go(queue, array);
}

void World::attach() {
    move(
        polytile_queue_attach,
        [this](const Queue *, const Array *array) {
            return is_mine(array) && array->queue == nullptr;
        },
        [](const Queue *queue, Array *array) { array->queue = queue; });
}

void World::detach() {
    move(
        polytile_queue_detach,
        [](const Queue *queue, const Array *array) {
            return array->queue == queue && !array->is_internal;
        },
        [this](const Queue *, Array *array) { give_back(array); });
}

void World::wait() {
    if (const Queue *queue = any(queues_))
        expect(polytile_queue_wait(queue->handle), true);
}

void World::wait_for() {
    const Queue *queue = any(queues_);
    const Array *array = any(arrays_);
    if (queue != nullptr && array != nullptr)
        expect(polytile_queue_wait_for(queue->handle, array->handle), array->queue == queue);
}

void World::pause() {
    if (const Queue *queue = any(queues_))
        polytile_queue_pause(queue->handle);
}

void World::resume() {
    if (const Queue *queue = any(queues_))
        polytile_queue_resume(queue->handle);
}

void World::report() {
    polytile_report told;
    if (const Queue *queue = any(queues_))
        polytile_queue_get_report(queue->handle, bytes_->chance(50), &told);
}

/* Launches. */

/** Mostly those of the right dimensions. */
std::vector<Array *> World::operands_of(const ProgramKernel &kernel) {
    std::vector<Array *> operands;
    for (const int n_dims : kernel.dims) {
        Array *chosen = nullptr;
        for (int attempt = 0; attempt < 4; attempt++) {
            chosen = any(arrays_);
            if (chosen == nullptr)
                return {};
            if (chosen->n_dims == n_dims)
                break;
        }
        operands.push_back(chosen);
    }
    return operands;
}

/** Now and then none at all, or some that lie far outside every array. */
polytile_domain World::threads_of(const ProgramKernel &kernel, bool *is_inside) {
    polytile_domain threads = {};
    threads.n_dims = kernel.n_indices;
    for (int d = 0; d < threads.n_dims; d++) {
        const int64_t lo = bytes_->number(kernel.least, kernel.most(extent));
        threads.range[d] = {lo, bytes_->number(lo, kernel.most(extent)), 1};
    }
    *is_inside = bytes_->byte() <= 250;
    if (!*is_inside)
        threads.range[bytes_->number(0, threads.n_dims - 1)].hi = bytes_->chance(50) ? -1 : 1000;
    return threads;
}

bool World::has_dims_of(const ProgramKernel &kernel, const std::vector<Array *> &arrays) {
    return std::equal(arrays.begin(), arrays.end(), kernel.dims.begin(),
                      [](const Array *array, int n_dims) { return array->n_dims == n_dims; });
}

/** Whether arrays have the operands' dimensions, and none is written that is given twice. */
bool World::is_free_of_clashes(const ProgramKernel &kernel, const std::vector<Array *> &arrays) {
    const auto n_read = static_cast<std::ptrdiff_t>(kernel.dims.size()) - kernel.n_written;
    return has_dims_of(kernel, arrays) &&
           std::all_of(arrays.begin() + n_read, arrays.end(), [&](const Array *array) {
               return std::count(arrays.begin(), arrays.end(), array) == 1;
           });
}

/** One array is given for several names of which one is written: whether their elements differ is
 * the library's to find out, and arrays show it where it errs. */
bool World::may_be_apart(const ProgramKernel &kernel, const std::vector<Array *> &arrays) {
    return has_dims_of(kernel, arrays) && !is_free_of_clashes(kernel, arrays);
}

/** is_right: but for clashes. */
void World::expect_launch(polytile_status status, bool is_right, const ProgramKernel &kernel,
                          const std::vector<Array *> &arrays) const {
    if (is_right && may_be_apart(kernel, arrays))
        require_told(ctx_, status);
    else
        expect(status, is_right && is_free_of_clashes(kernel, arrays));
}

void World::model(const ProgramKernel &kernel, const polytile_domain &threads,
                  const std::vector<Array *> &arrays) const {
    std::vector<std::vector<uint32_t> *> expected;
    for (Array *array : arrays)
        expected.push_back(&array->expected);
    run_plainly(kernel, extent, threads, expected);
}

polytile_launch_options World::draw_options() {
    static const char *const strategies[] = {"min-time", "min-traffic", "min-kernels", "paper"};
    polytile_launch_options options = {};
    for (int64_t &threads : block_)
        threads = bytes_->number(1, 4);
    options.plan.block = bytes_->chance(70) ? block_ : nullptr;
    options.plan.strategy = bytes_->chance(70) ? nullptr : strategies[bytes_->number(0, 3)];
    options.plan.n_buffers = static_cast<int>(bytes_->chance(70) ? 0 : bytes_->number(1, 3));
    return options;
}

Drawn World::draw() {
    const size_t k = any_kernel();
    Drawn drawn = {k, program_kernels()[k], operands_of(program_kernels()[k]), {}, false};
    if (!drawn.arrays.empty())
        drawn.threads = threads_of(drawn.kernel, &drawn.is_inside);
    return drawn;
}

void World::launch() {
    const Queue *queue = any(queues_);
    const Drawn drawn = draw();
    if (queue == nullptr || drawn.arrays.empty())
        return;
    const polytile_launch_options options = draw_options();
    bool is_right = drawn.is_inside;
    for (const Array *array : drawn.arrays)
        is_right = is_right && array->queue == queue;
    const polytile_status status = polytile_queue_launch(
        queue->handle, kernel_of(drawn.k), &drawn.threads, static_cast<int>(drawn.arrays.size()),
        handles_of(drawn.arrays).data(), &options);
    if (status != POLYTILE_NO_FIT)
        expect_launch(status, is_right, drawn.kernel, drawn.arrays);
    if (status == POLYTILE_OK)
        model(drawn.kernel, drawn.threads, drawn.arrays);
}

void World::launch_often() {
    for (int64_t n = bytes_->number(2, 5); n > 0; n--)
        launch();
}

/* Devices. */

void World::make_device() {
    static const char *const devices[] = {"host", "host(memory=1KiB)", "host(memory=150B)"};
    if (devices_.size() >= 2)
        return;
    polytile_device *made = nullptr;
    expect(polytile_device_open(ctx_, devices[bytes_->number(0, 2)], &made), true);
    devices_.push_back(made);
}

void World::end_device() {
    if (devices_.empty())
        return;
    polytile_device_close(devices_.back());
    devices_.pop_back();
}

void World::run() {
    const Drawn drawn = draw();
    if (devices_.empty() || drawn.arrays.empty())
        return;
    polytile_launch_options options = draw_options();
    options.plan.limit_bytes = bytes_->chance(70) ? 0 : bytes_->number(1, 1000);
    const bool is_right = drawn.is_inside && are_free(drawn.arrays);
    const polytile_status status = polytile_run(devices_.back(), kernel_of(drawn.k), &drawn.threads,
                                                static_cast<int>(handles_of(drawn.arrays).size()),
                                                handles_of(drawn.arrays).data(), &options);
    if (status != POLYTILE_NO_FIT)
        expect_launch(status, is_right, drawn.kernel, drawn.arrays);
    if (status == POLYTILE_OK)
        model(drawn.kernel, drawn.threads, drawn.arrays);
    compare_free(drawn.arrays);
}

void World::compare_free(const std::vector<Array *> &arrays) const {
    for (const Array *array : arrays)
        if (array->queue == nullptr)
            compare(*array);
}

/* Kernels and plans. */

/** Queued launches and plans keep what they need of it. */
void World::end_kernel() {
    const size_t k = any_kernel();
    polytile_kernel_destroy(kernels_[k]);
    kernels_[k] = nullptr;
}

/** Of the arrays a plan keeps only their shapes. */
void World::make_plan() {
    const Drawn drawn = draw();
    if (plans_.size() >= most_objects || drawn.arrays.empty())
        return;
    polytile_launch_options options = draw_options();
    options.plan.limit_bytes = bytes_->chance(30) ? 0 : bytes_->number(1, 1000);
    polytile_plan *made = nullptr;
    const polytile_status status = polytile_plan_create(
        kernel_of(drawn.k), &drawn.threads, static_cast<int>(handles_of(drawn.arrays).size()),
        handles_of(drawn.arrays).data(), &options, &made);
    if (status != POLYTILE_NO_FIT)
        expect_launch(status, drawn.is_inside, drawn.kernel, drawn.arrays);
    require((made != nullptr) == (status == POLYTILE_OK), "a plan comes with success");
    if (made != nullptr)
        plans_.push_back(std::make_unique<Plan>(
            Plan{made, drawn.k, drawn.threads, options.plan.limit_bytes > 0}));
}

void World::end_plan() {
    const Plan *plan = any(plans_);
    if (plan == nullptr)
        return;
    polytile_plan_destroy(plan->handle);
    forget(&plans_, plan);
}

/** Mostly of the kernel that was planned, or of one with its declaration. */
void World::run_plan() {
    const Plan *plan = any(plans_);
    if (plan == nullptr || devices_.empty())
        return;
    const size_t k = bytes_->chance(80) ? plan->kernel : any_kernel();
    const ProgramKernel &kernel = program_kernels()[k];
    const std::vector<Array *> arrays = operands_of(kernel);
    if (arrays.empty())
        return;
    const bool has_limit = polytile_device_get_limit(devices_.back()) > 0;
    const bool is_planned =
        std::strcmp(kernel.declaration, program_kernels()[plan->kernel].declaration) == 0;
    const bool is_right = is_planned && (plan->is_limited || !has_limit) && are_free(arrays);
    const polytile_status status = polytile_plan_run(plan->handle, devices_.back(), kernel_of(k),
                                                     static_cast<int>(handles_of(arrays).size()),
                                                     handles_of(arrays).data(), NULL);
    if (status != POLYTILE_NO_FIT)
        expect_launch(status, is_right, kernel, arrays);
    if (status == POLYTILE_OK)
        model(kernel, plan->threads, arrays);
    compare_free(arrays);
}

/* Checks, which change nothing. */

void World::check() {
    const Drawn drawn = draw();
    if (drawn.arrays.empty())
        return;
    expect_launch(polytile_check(kernel_of(drawn.k), &drawn.threads,
                                 static_cast<int>(handles_of(drawn.arrays).size()),
                                 handles_of(drawn.arrays).data(), nullptr),
                  drawn.is_inside, drawn.kernel, drawn.arrays);
}

void World::check_run() {
    const Drawn drawn = draw();
    if (devices_.empty() || drawn.arrays.empty())
        return;
    polytile_check_report found;
    const polytile_status status =
        polytile_check_run(devices_.back(), kernel_of(drawn.k), &drawn.threads,
                           static_cast<int>(handles_of(drawn.arrays).size()),
                           handles_of(drawn.arrays).data(), nullptr, &found);
    if (status != POLYTILE_NO_FIT)
        expect_launch(status, drawn.is_inside && are_free(drawn.arrays), drawn.kernel,
                      drawn.arrays);
    compare_free(drawn.arrays);
}

void World::call(World *other) {
    static const Call calls[] = {
        &World::make_array, &World::make_internal, &World::end_array,    &World::make_queue,
        &World::end_queue,  &World::attach,        &World::attach,       &World::detach,
        &World::launch,     &World::launch,        &World::launch_often, &World::launch_often,
        &World::wait,       &World::wait_for,      &World::pause,        &World::resume,
        &World::report,     &World::make_device,   &World::end_device,   &World::run,
        &World::end_kernel, &World::make_plan,     &World::end_plan,     &World::run_plan,
        &World::run_plan,   &World::check,         &World::check_run};
    other_ = other;
    (this->*calls[bytes_->number(0, static_cast<int64_t>(std::size(calls)) - 1)])();
}

} // namespace

void fuzz_one(const uint8_t *data, size_t n_bytes) {
    static const int has_set = setenv("POLYTILE_LOG", "error", 1);
    require(has_set == 0, "warnings are kept back");
    Bytes bytes(data, n_bytes);
    std::unique_ptr<World> world = std::make_unique<World>(&bytes), other;
    for (int n = 0; n < most_calls && !bytes.empty(); n++) {
        const uint8_t what = bytes.byte();
        if (what == 255)
            world = std::make_unique<World>(&bytes);
        else if (what == 254)
            other = other == nullptr ? std::make_unique<World>(&bytes) : nullptr;
        else if (what >= 250 && other != nullptr)
            other->call(world.get());
        else
            world->call(other.get());
    }
}
