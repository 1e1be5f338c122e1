#include "fuzz/fuzz.h"

#include <algorithm>
#include <cstring>
#include <vector>

extern "C" {
#include "access/declare/kernel.h"
#include "partition/prove/check.h"
#include "partition/window/plan.h"
#include "partition/window/plan_chain.h"
}

/* Plans: the first line is a declaration, the bytes after it decide on the domain, the arrays and
 * the options, and on a chain of this kernel and of others over arrays that change places, some of
 * them scratch. A plan that is made is proved right by the schedule checker, and is written. */

namespace {

/** Small mostly, so that there is something to plan; now and then anything. */
int64_t draw_end(Bytes *bytes, int64_t lo, int64_t hi) {
    return bytes->byte() < 250 ? bytes->number(lo, hi) : bytes->number(INT64_MIN, INT64_MAX);
}

/** Boxes of at most some hundred points, unless an end is wild. */
polytile_domain draw_domain(Bytes *bytes, int n_dims) {
    static const int64_t most[] = {0, 60, 12, 6, 4, 3, 2, 2, 2};
    polytile_domain domain = {};
    domain.n_dims = n_dims;
    for (int d = 0; d < n_dims; d++) {
        polytile_range *range = &domain.range[d];
        range->lo = draw_end(bytes, -1, 2);
        range->hi = draw_end(bytes, -1, most[n_dims]);
        range->step = bytes->byte() < 253 ? 1 : 2;
    }
    return domain;
}

double draw_figure(Bytes *bytes) {
    static const double figures[] = {0, 1, 1e-6, 1e3, 1e9, 25e9, 3e12, 1e300, -1, 0};
    if (bytes->byte() < 240)
        return figures[bytes->number(0, 9)];
    const int64_t bits = bytes->number(INT64_MIN, INT64_MAX);
    double figure;
    std::memcpy(&figure, &bits, sizeof figure);
    return figure;
}

polytile_link draw_link(Bytes *bytes) {
    polytile_link link = polytile_link_default;
    double *const figures[] = {&link.upload_bytes_per_s, &link.download_bytes_per_s,
                               &link.duplex_bytes_per_s, &link.transfer_latency_s,
                               &link.run_overhead_bytes, &link.launch_latency_s,
                               &link.kernel_bytes_per_s, &link.kernel_accesses_per_s,
                               &link.cache_bytes,        &link.cache_bytes_per_s};
    for (double *figure : figures)
        if (bytes->chance(20))
            *figure = draw_figure(bytes);
    return link;
}

/** Kernels that alternate with the one of the input. */
const std::vector<polytile_kernel *> &companions() {
    static const std::vector<polytile_kernel *> made = [] {
        std::vector<polytile_kernel *> kernels;
        for (const char *text : {
                 "copy[i]: in A[i]; out B[i]",
                 "smooth[i]: in A[i-1:i+1]; out B[i]",
                 "grow[i]: in A[i]; inout B[i]",
                 "rows[i, j]: in A[i-1:i+1, j]; out B[i, j]",
                 "jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
                 "weigh[i, j]: in A[i, j], w[j]; out B[i, j]",
                 "add_up[i, j]: in A[i, j]; out sum s[j]",
                 "heat[i, j, k]: in A[i-1:i+1, j, k], A[i, j, k-1:k+1]; out B[i, j, k]",
             }) {
            polytile_kernel *kernel = nullptr;
            require(polytile_kernel_create(shared_context(), text, nullptr, &kernel) == POLYTILE_OK,
                    text);
            kernels.push_back(kernel);
        }
        return kernels;
    }();
    return made;
}

/** What is within one of the ends of both, or of the first if they have not as many dimensions. */
polytile_domain inner(const polytile_domain &one, const polytile_domain &other) {
    polytile_domain common = one;
    for (int d = 0; d < one.n_dims; d++) {
        const bool has_both = d < other.n_dims;
        const int64_t lo =
            has_both ? std::max(one.range[d].lo, other.range[d].lo) : one.range[d].lo;
        const int64_t hi =
            has_both ? std::min(one.range[d].hi, other.range[d].hi) : one.range[d].hi;
        common.range[d] = {lo < INT64_MAX ? lo + 1 : lo, hi > INT64_MIN ? hi - 1 : hi, 1};
    }
    return common;
}

/** What a plan is made of; all of it belongs to the shared context. */
class Request {
  public:
    Request(Bytes *bytes, polytile_kernel *kernel) : kernel_(kernel) {
        const polytile_declaration *declaration = kernel->declaration;
        threads_ = draw_domain(bytes, declaration->n_indices - (bytes->byte() > 253));
        for (int p = 0; p < declaration->n_parameters; p++)
            parameters_.push_back(
                POLYTILE_PARAMETER(declaration->parameter_name[p], draw_end(bytes, -1, 12)));
        for (int a = 0; a < declaration->n_arrays; a++)
            if (!declaration->is_scratch[a])
                draw_array(bytes, declaration->array_n_dims[a]);
        draw_options(bytes);
        const int n_launches = bytes->byte() < 120 ? 0 : static_cast<int>(bytes->number(1, 8));
        for (int l = 0; l < n_launches && has_all(); l++)
            draw_launch(bytes);
        for (polytile_array *array : arrays_)
            if (!launches_.empty() && bytes->chance(25))
                scratch_.push_back(array);
    }
    ~Request() {
        for (polytile_array *array : arrays_)
            polytile_array_destroy(array);
    }
    Request(const Request &) = delete;
    Request &operator=(const Request &) = delete;

    bool has_all() const {
        return static_cast<int>(arrays_.size()) ==
               kernel_->declaration->n_arrays - kernel_->declaration->n_scratch;
    }

    polytile_status plan(polytile_plan **made) const {
        if (launches_.empty())
            return polytile_plan_create(kernel_, &threads_, static_cast<int>(arrays_.size()),
                                        arrays_.data(), &options_, made);
        const std::vector<polytile_chain_launch> launches = chain();
        return polytile_plan_create_chain(static_cast<int>(launches.size()), launches.data(),
                                          static_cast<int>(scratch_.size()), scratch_.data(),
                                          &options_.plan, made);
    }

    polytile_status check() const {
        if (launches_.empty())
            return polytile_check(kernel_, &threads_, static_cast<int>(arrays_.size()),
                                  arrays_.data(), &options_);
        const std::vector<polytile_chain_launch> launches = chain();
        return polytile_check_chain(static_cast<int>(launches.size()), launches.data(),
                                    static_cast<int>(scratch_.size()), scratch_.data(),
                                    &options_.plan);
    }
    bool has_scratch() const { return !scratch_.empty(); }
    int64_t limit_bytes() const { return options_.plan.limit_bytes; }
    const polytile_declaration *declaration() const { return kernel_->declaration; }

  private:
    struct Launch {
        polytile_kernel *kernel;
        polytile_domain threads;
        std::vector<polytile_array *> arrays;
    };

    std::vector<polytile_chain_launch> chain() const {
        std::vector<polytile_chain_launch> launches;
        for (const Launch &launch : launches_)
            launches.push_back({launch.kernel,
                                launch.threads,
                                static_cast<int>(launch.arrays.size()),
                                launch.arrays.data(),
                                options_.n_parameters,
                                options_.parameters,
                                {}});
        return launches;
    }

    /** One of the arrays that have as many dimensions; NULL: there is none. */
    polytile_array *draw_operand(Bytes *bytes, int n_dims) const {
        std::vector<polytile_array *> fitting;
        for (polytile_array *array : arrays_)
            if (polytile_array_get_domain(array)->n_dims == n_dims)
                fitting.push_back(array);
        const auto n_fitting = static_cast<int64_t>(fitting.size());
        return fitting.empty() ? nullptr
                               : fitting[static_cast<size_t>(bytes->number(0, n_fitting - 1))];
    }

    /** The kernel of the input over its own arrays, over others, or another kernel. */
    void draw_launch(Bytes *bytes) {
        Launch launch = {kernel_, threads_, arrays_};
        if (bytes->chance(60))
            draw_companion(bytes, &launch);
        else if (bytes->chance(60))
            draw_operands(bytes, &launch);
        const auto is_missing = [](const polytile_array *array) { return array == nullptr; };
        if (std::none_of(launch.arrays.begin(), launch.arrays.end(), is_missing))
            launches_.push_back(launch);
    }

    void draw_operands(Bytes *bytes, Launch *launch) const {
        const polytile_declaration *declaration = launch->kernel->declaration;
        launch->arrays.clear();
        for (int a = 0; a < declaration->n_arrays; a++)
            if (!declaration->is_scratch[a])
                launch->arrays.push_back(draw_operand(bytes, declaration->array_n_dims[a]));
    }

    void draw_companion(Bytes *bytes, Launch *launch) const {
        const auto last = static_cast<int64_t>(companions().size()) - 1;
        launch->kernel = companions()[static_cast<size_t>(bytes->number(0, last))];
        draw_operands(bytes, launch);
        const polytile_array *first = launch->arrays.front(), *back = launch->arrays.back();
        if (first != nullptr && back != nullptr)
            launch->threads =
                inner(*polytile_array_get_domain(first), *polytile_array_get_domain(back));
    }

    void draw_array(Bytes *bytes, int n_dims) {
        static const polytile_type types[] = {POLYTILE_F32, POLYTILE_U8, POLYTILE_F64, POLYTILE_I16,
                                              POLYTILE_BYTES(12)};
        const polytile_domain domain = draw_domain(bytes, n_dims - (bytes->byte() > 253));
        polytile_array *array = nullptr;
        const polytile_status status = polytile_array_describe(
            shared_context(), "array", types[bytes->number(0, 4)], &domain, &array);
        require_told(shared_context(), status);
        if (array != nullptr)
            arrays_.push_back(array);
    }

    void draw_options(Bytes *bytes) {
        static const char *const strategies[] = {nullptr,       "min-time", "min-traffic",
                                                 "min-kernels", "paper",    "fastest"};
        options_.plan.limit_bytes = bytes->byte() < 60 ? 0 : draw_end(bytes, 1, 6000);
        options_.plan.strategy = strategies[bytes->byte() < 250 ? bytes->number(0, 4) : 5];
        options_.plan.n_buffers = static_cast<int>(draw_end(bytes, 0, 3));
        for (int d = 0; d < POLYTILE_MAX_DIMS; d++)
            block_.push_back(draw_end(bytes, 1, 5));
        options_.plan.block = bytes->chance(60) ? block_.data() : nullptr;
        options_.n_parameters = static_cast<int>(parameters_.size());
        options_.parameters = parameters_.data();
        link_ = draw_link(bytes);
        options_.plan.link = bytes->chance(50) ? &link_ : nullptr;
        options_.plan.launches_per_pass = draw_end(bytes, 0, 4);
    }

    polytile_kernel *kernel_;
    polytile_domain threads_;
    std::vector<polytile_parameter> parameters_;
    std::vector<polytile_array *> arrays_;
    std::vector<int64_t> block_;
    polytile_link link_ = {};
    polytile_launch_options options_ = {};
    std::vector<Launch> launches_;
    std::vector<polytile_array *> scratch_;
};

void prove_schedule(const pti_schedule *schedule) {
    pti_text why = {};
    if (!pti_schedule_check(schedule, &why))
        require(false, std::string("a plan is right: ") + (why.data ? why.data : ""));
    pti_text_free(&why);
}

void prove(const polytile_plan *plan, int64_t limit_bytes) {
    if (plan->schedule != nullptr)
        prove_schedule(plan->schedule);
    for (int k = 0; plan->chain != nullptr && k < plan->chain->n_subplans; k++)
        prove_schedule(plan->chain->subplan[k].schedule);
    polytile_plan_summary summary;
    polytile_plan_get_summary(plan, &summary);
    require(limit_bytes == 0 || summary.peak_device_bytes <= limit_bytes,
            "a plan stays within its limit");
    require(limit_bytes == 0 || summary.h2d_bytes + summary.d2h_bytes >= summary.lower_bound_bytes,
            "a plan moves no less than what no plan can");
}

void write(const polytile_plan *plan, polytile_format format) {
    char *text = nullptr;
    const polytile_status status = polytile_plan_to_string(plan, format, &text);
    require(status == POLYTILE_OK && text != nullptr && *text != '\0',
            std::string("a plan is written: ") + polytile_last_error(shared_context()));
    std::free(text);
}

/** Whether planning takes a section's threads at their word: what is in braces and no section, or
 * has a step that may leap over its array, only a proof looks at. */
bool is_left_to_proofs(const polytile_declaration *declaration) {
    const auto leaps = [](const polytile_subscript &subscript) { return subscript.step > 1; };
    const auto is_open = [&](const pti_access &access) {
        return !access.exact ||
               std::any_of(access.subscript, access.subscript + access.n_dims, leaps);
    };
    return std::any_of(declaration->access, declaration->access + declaration->n_accesses, is_open);
}

void require_sound(const Request &request) {
    const polytile_status status = request.check();
    const bool may_be_refused =
        status == POLYTILE_UNSUPPORTED ||
        (status == POLYTILE_DECLARATION &&
         (request.has_scratch() || is_left_to_proofs(request.declaration())));
    require(status == POLYTILE_OK || may_be_refused,
            std::string("what can be planned is sound: ") + polytile_last_error(shared_context()));
}

void try_request(const Request &request, polytile_format format) {
    polytile_plan *plan = nullptr;
    const polytile_status status = request.plan(&plan);
    require((status == POLYTILE_OK) == (plan != nullptr), "a plan comes with success");
    require_told(shared_context(), status);
    require(status != POLYTILE_IO && status != POLYTILE_DEVICE && status != POLYTILE_NO_MEMORY,
            std::string("an error that planning lists: ") + polytile_last_error(shared_context()));
    if (plan == nullptr)
        return;
    prove(plan, request.limit_bytes());
    write(plan, format);
    polytile_plan_destroy(plan);
    require_sound(request);
}

} // namespace

void fuzz_one(const uint8_t *data, size_t n_bytes) {
    polytile_context *ctx = shared_context();
    Bytes bytes(data, n_bytes);
    polytile_kernel *kernel = nullptr;
    const polytile_status status =
        polytile_kernel_create(ctx, bytes.line().c_str(), nullptr, &kernel);
    require((status == POLYTILE_OK) == (kernel != nullptr), "a kernel comes with success");
    require_told(ctx, status);
    if (kernel == nullptr)
        return;
    const auto format = static_cast<polytile_format>(bytes.number(POLYTILE_TEXT, POLYTILE_SVG));
    {
        const Request request(&bytes, kernel);
        if (request.has_all())
            try_request(request, format);
    }
    polytile_kernel_destroy(kernel);
}
