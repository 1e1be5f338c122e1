#include "queue/view_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

namespace {

constexpr int64_t element_bytes = 4;
constexpr int n_bases = 3;

int64_t count_of(const polytile_range &range) {
    return (range.hi - range.lo) / range.step + 1;
}

/** What a thread touches along a dimension, where the array ends. */
polytile_range range_of(const ViewWindow &window, const int64_t *thread, int64_t first,
                        int64_t last) {
    if (window.index == ViewWindow::whole)
        return {first, last, window.step};
    const int64_t moved =
        window.index == ViewWindow::fixed ? 0 : window.factor * thread[window.index];
    polytile_range range = {moved + window.lo, moved + window.hi, window.step};
    while (range.lo < first)
        range.lo += range.step;
    range.hi = std::min(range.hi, last);
    return range;
}

/** Call for each element of a thread's section; addresses are counted modulo 2^64. */
void for_each_element(const std::vector<ViewWindow> &windows, const int64_t *thread,
                      const polytile_view &view, const std::function<void(uint32_t *)> &call,
                      size_t dim = 0, uint64_t offset_bytes = 0) {
    if (dim == windows.size()) {
        call(reinterpret_cast<uint32_t *>(reinterpret_cast<uintptr_t>(view.origin) + offset_bytes));
        return;
    }
    const polytile_range range =
        range_of(windows[dim], thread, view.array_first[dim], view.array_last[dim]);
    for (int64_t x = range.lo; x <= range.hi; x += range.step)
        for_each_element(windows, thread, view, call, dim + 1,
                         offset_bytes + static_cast<uint64_t>(x) *
                                            static_cast<uint64_t>(view.stride_bytes[dim]));
}

/** The view of a whole array in host memory. */
polytile_view plain_view(const polytile_array *array) {
    const polytile_domain *domain = polytile_array_get_domain(array);
    polytile_view view = {};
    auto *origin = static_cast<char *>(polytile_array_get_data(array));
    view.resident = *domain;
    for (int d = 0; d < domain->n_dims; d++) {
        view.stride_bytes[d] = polytile_array_get_stride_bytes(array, d) / domain->range[d].step;
        view.array_first[d] = domain->range[d].lo;
        view.array_last[d] = domain->range[d].hi;
        origin -= domain->range[d].lo * view.stride_bytes[d];
    }
    view.origin = origin;
    return view;
}

/** Split or join the extents of a domain at random; indices begin anywhere. */
polytile_domain draw_reshaped(const polytile_domain &domain, bool may_join, Random *random) {
    std::vector<int64_t> extents;
    for (int d = 0; d < domain.n_dims; d++) {
        int64_t extent = count_of(domain.range[d]);
        for (const int64_t factor : {2, 3})
            if (extent % factor == 0 && extent > factor && extents.size() < 3 &&
                random->chance(50)) {
                extents.push_back(random->chance(50) ? factor : extent / factor);
                extent /= extents.back();
            }
        extents.push_back(extent);
    }
    if (may_join && extents.size() > 1) {
        extents[1] *= extents[0];
        extents.erase(extents.begin());
    }
    if (random->chance(20) && extents.size() < 5)
        extents.insert(extents.begin() + random->number(0, static_cast<int64_t>(extents.size())),
                       1);
    polytile_domain made = {};
    made.n_dims = static_cast<int>(extents.size());
    for (int d = 0; d < made.n_dims; d++) {
        const int64_t lo = random->one_of({0, 0, 0, 1, -2});
        made.range[d] = {lo, lo + extents[static_cast<size_t>(d)] - 1, 1};
    }
    return made;
}

polytile_domain draw_part(const polytile_domain &domain, Random *random) {
    polytile_domain part = domain;
    for (int d = 0; d < part.n_dims; d++) {
        polytile_range &range = part.range[d];
        const int64_t n = count_of(range), first = random->number(0, n / 3);
        const int64_t step = random->one_of({1, 1, 1, 2, 3});
        const int64_t last =
            first + random->number(n / 2, n - 1 - first > n / 2 ? n - 1 - first : n / 2);
        const polytile_range whole = range;
        range.step = whole.step * step;
        range.lo = whole.lo + first * whole.step;
        range.hi = range.lo + (std::min(last, n - 1) - first) / step * range.step;
    }
    return part;
}

} // namespace

std::string ViewKernel::text_of(char array, const std::vector<ViewWindow> &windows) const {
    std::string text = std::string(1, array) + "[";
    for (size_t d = 0; d < windows.size(); d++) {
        const ViewWindow &window = windows[d];
        const std::string moved =
            window.index < 0 ? ""
                             : std::to_string(window.factor) + "*i" + std::to_string(window.index);
        const auto end = [&](int64_t at) {
            return moved + (moved.empty() || at < 0 ? "" : "+") + std::to_string(at);
        };
        text += d == 0 ? "" : ", ";
        text += window.index == ViewWindow::whole ? ":"
                : window.lo == window.hi
                    ? end(window.lo)
                    : end(window.lo) + ":" + end(window.hi) + ":" + std::to_string(window.step);
    }
    return text + "]";
}

std::string ViewKernel::declaration() const {
    std::string text = "mix[";
    for (int k = 0; k < n_indices_; k++)
        text += (k == 0 ? "i" : ", i") + std::to_string(k);
    return text + "]: in " + text_of('v', read_) + "; inout " + text_of('w', written_);
}

polytile_implementation ViewKernel::implementation() const {
    polytile_implementation made = {};
    made.user = const_cast<ViewKernel *>(this);
    made.n_indices = n_indices_;
    made.n_views = 2;
    made.views = shapes_;
    made.host = [](const polytile_domain *threads, const polytile_view *views, void *user) {
        static_cast<const ViewKernel *>(user)->run(*threads, views);
    };
    made.takes_steps = takes_steps_;
    made.cuda = takes_steps_ ? this : nullptr;
    return made;
}

void ViewKernel::run(const polytile_domain &threads, const polytile_view *views) const {
    int64_t thread[POLYTILE_MAX_DIMS];
    const std::function<void(int)> loop = [&](int k) {
        if (k < threads.n_dims) {
            EXPECT_TRUE(takes_steps_ || threads.range[k].step == 1);
            for (thread[k] = threads.range[k].lo; thread[k] <= threads.range[k].hi;
                 thread[k] += threads.range[k].step)
                loop(k + 1);
            return;
        }
        uint32_t sum = 1, place = 0;
        for_each_element(read_, thread, views[0],
                         [&](const uint32_t *element) { sum = sum * 31 + *element; });
        for_each_element(written_, thread, views[1],
                         [&](uint32_t *element) { *element = *element * 3 + sum + ++place; });
    };
    loop(0);
}

ViewProgram::ViewProgram(Random *random) : random_(random) {
    EXPECT_EQ(polytile_context_create(&ctx_), POLYTILE_OK);
    for (int b = 0; b < n_bases; b++)
        add_base(random);
    for (int64_t k = random->number(2, 8); k > 0; k--)
        add_view(random);
}

ViewProgram::~ViewProgram() {
    polytile_context_destroy(ctx_);
}

/** Wrap memory in C order or Fortran order, perhaps with a pitch, and plain memory like it. */
void ViewProgram::add_base(Random *random) {
    polytile_domain domain = {};
    std::vector<int> order(static_cast<size_t>(random->number(1, 3)));
    domain.n_dims = static_cast<int>(order.size());
    for (int d = 0; d < domain.n_dims; d++)
        domain.range[d] = {0, random->one_of({3, 5, 7, 11, 15}), 1};
    std::iota(order.rbegin(), order.rend(), 0);
    if (random->chance(30))
        std::reverse(order.begin(), order.end());
    int64_t stride_bytes[POLYTILE_MAX_DIMS], n_bytes = element_bytes;
    for (const int d : order) {
        stride_bytes[d] = n_bytes;
        n_bytes = stride_bytes[d] * (domain.range[d].hi + 1) +
                  (random->chance(30) ? element_bytes * random->number(1, 5) : 0);
    }
    std::vector<unsigned char> bytes(static_cast<size_t>(n_bytes));
    for (unsigned char &byte : bytes)
        byte = static_cast<unsigned char>(random->number(0, 255));
    used_memory_.push_back(bytes);
    plain_memory_.push_back(bytes);
    TwinArray made = {nullptr, nullptr, static_cast<int>(views_.size()), false};
    const std::string name = "base" + std::to_string(views_.size());
    EXPECT_EQ(polytile_array_wrap_strides(ctx_, name.c_str(), POLYTILE_U32, &domain, stride_bytes,
                                          used_memory_.back().data(), &made.used),
              POLYTILE_OK)
        << polytile_last_error(ctx_);
    EXPECT_EQ(polytile_array_wrap_strides(ctx_, name.c_str(), POLYTILE_U32, &domain, stride_bytes,
                                          plain_memory_.back().data(), &made.plain),
              POLYTILE_OK);
    views_.push_back(made);
}

/** False: rows lie too far apart to be joined. */
polytile_status ViewProgram::make_view(size_t of, const polytile_domain &domain, bool selects) {
    const auto make = selects ? polytile_array_select : polytile_array_reshape;
    const std::string name = "view" + std::to_string(views_.size());
    TwinArray made = views_[of];
    polytile_status status = make(views_[of].used, name.c_str(), &domain, &made.used);
    if (status == POLYTILE_OK) {
        EXPECT_EQ(make(views_[of].plain, name.c_str(), &domain, &made.plain), POLYTILE_OK);
        views_.push_back(made);
    }
    return status;
}

void ViewProgram::add_view(Random *random) {
    const auto of = static_cast<size_t>(random->number(0, static_cast<int64_t>(views_.size()) - 1));
    const polytile_domain domain = *polytile_array_get_domain(views_[of].used);
    if (random->chance(45)) {
        EXPECT_EQ(make_view(of, draw_part(domain, random), true), POLYTILE_OK)
            << polytile_last_error(ctx_);
        return;
    }
    const bool joins = random->chance(20);
    const polytile_status status = make_view(of, draw_reshaped(domain, joins, random), false);
    EXPECT_TRUE(status == POLYTILE_OK || (joins && status == POLYTILE_INVALID))
        << polytile_last_error(ctx_);
    if (status == POLYTILE_OK && joins)
        views_.back().joins = true;
}

size_t ViewProgram::draw_view(bool in_queue, int other_base) {
    for (;;) {
        const auto k =
            static_cast<size_t>(random_->number(0, static_cast<int64_t>(views_.size()) - 1));
        if (views_[k].base != other_base && !(in_queue && views_[k].joins))
            return k;
    }
}

/** A window on a dimension: of an index that has so many values, which are counted from 0. */
static ViewWindow window_of(const polytile_range &range, int index, int64_t before, int64_t after) {
    return {index, range.step, range.lo - before * range.step, range.lo + after * range.step,
            range.step};
}

static ViewWindow draw_without_index(const polytile_range &range, Random *random) {
    if (random->chance(60))
        return {ViewWindow::whole, 0, range.lo, range.hi, range.step};
    const int64_t at = range.lo + random->number(0, count_of(range) - 1) * range.step;
    return {ViewWindow::fixed, 0, at, at, range.step};
}

void ViewProgram::draw_launch(bool in_queue, bool on_gpus) {
    const size_t written = draw_view(in_queue, -1);
    const size_t read = draw_view(in_queue, views_[written].base);
    const polytile_domain &w = *polytile_array_get_domain(views_[written].used);
    const polytile_domain &v = *polytile_array_get_domain(views_[read].used);
    std::vector<ViewWindow> of_w, of_v;
    polytile_domain threads = {};
    for (int d = 0; d < w.n_dims; d++) {
        if (threads.n_dims > 0 && random_->chance(35)) {
            of_w.push_back(draw_without_index(w.range[d], random_));
            continue;
        }
        of_w.push_back(window_of(w.range[d], threads.n_dims, 0, 0));
        const int64_t n = count_of(w.range[d]), lo = random_->number(0, n / 4);
        const int64_t hi = random_->number(lo, n - 1), step = random_->one_of({1, 1, 1, 2, 3});
        threads.range[threads.n_dims++] = {lo, hi - (hi - lo) % step, step};
    }
    for (int d = 0; d < v.n_dims; d++) {
        const int k = static_cast<int>(random_->number(0, threads.n_dims - 1));
        if (random_->chance(30) || threads.range[k].hi >= count_of(v.range[d]))
            of_v.push_back(draw_without_index(v.range[d], random_));
        else
            of_v.push_back(window_of(v.range[d], k, random_->number(0, 1), random_->number(0, 2)));
    }
    kernels_.emplace_back(of_v, of_w, threads.n_dims, on_gpus || random_->chance(50));
    launches_.push_back({&kernels_.back(), threads, {read, written}});
}

void ViewProgram::draw_launches(bool in_queue, bool on_gpus) {
    for (int64_t n = random_->number(1, 6); n > 0; n--)
        draw_launch(in_queue, on_gpus);
}

void ViewProgram::run_plainly(const Launch &launch) const {
    const polytile_view views[] = {plain_view(views_[launch.views[0]].plain),
                                   plain_view(views_[launch.views[1]].plain)};
    polytile_domain threads = launch.threads;
    const std::function<void(int)> each = [&](int k) {
        if (k == threads.n_dims)
            return launch.kernel->run(threads, views);
        for (int64_t i = launch.threads.range[k].lo; i <= launch.threads.range[k].hi;
             i += launch.threads.range[k].step) {
            threads.range[k] = {i, i, 1};
            each(k + 1);
        }
    };
    each(0);
}

void ViewProgram::compare() const {
    for (size_t b = 0; b < used_memory_.size(); b++)
        EXPECT_EQ(used_memory_[b], plain_memory_[b]) << "base" << b;
}

int ViewProgram::queue_all(const std::string &device) {
    polytile_queue *queue = nullptr;
    std::vector<polytile_array *> bases;
    int n_launched = 0;
    for (int b = 0; b < n_bases; b++)
        bases.push_back(views_[static_cast<size_t>(b)].used);
    EXPECT_EQ(polytile_queue_create(ctx_, device.c_str(), &queue), POLYTILE_OK)
        << polytile_last_error(ctx_);
    EXPECT_EQ(polytile_queue_attach(queue, n_bases, bases.data()), POLYTILE_OK)
        << polytile_last_error(ctx_);
    for (const Launch &launch : launches_) {
        polytile_kernel *kernel = nullptr;
        const polytile_implementation implementation = launch.kernel->implementation();
        polytile_array *arrays[] = {views_[launch.views[0]].used, views_[launch.views[1]].used};
        EXPECT_EQ(polytile_kernel_create(ctx_, launch.kernel->declaration().c_str(),
                                         &implementation, &kernel),
                  POLYTILE_OK)
            << polytile_last_error(ctx_);
        const polytile_status status =
            polytile_queue_launch(queue, kernel, &launch.threads, 2, arrays, nullptr);
        EXPECT_TRUE(status == POLYTILE_OK || status == POLYTILE_NO_FIT)
            << launch.kernel->declaration() << ": " << polytile_last_error(ctx_);
        if (status == POLYTILE_OK)
            run_plainly(launch);
        n_launched += status == POLYTILE_OK;
    }
    EXPECT_EQ(polytile_queue_detach(queue, n_bases, bases.data()), POLYTILE_OK)
        << polytile_last_error(ctx_);
    polytile_queue_destroy(queue);
    compare();
    return n_launched;
}

int ViewProgram::run_all(const std::string &device_text) {
    polytile_device *device = nullptr;
    int n_launched = 0;
    EXPECT_EQ(polytile_device_open(ctx_, device_text.c_str(), &device), POLYTILE_OK)
        << polytile_last_error(ctx_);
    for (const Launch &launch : launches_) {
        polytile_kernel *kernel = nullptr;
        const polytile_implementation implementation = launch.kernel->implementation();
        polytile_array *arrays[] = {views_[launch.views[0]].used, views_[launch.views[1]].used};
        EXPECT_EQ(polytile_kernel_create(ctx_, launch.kernel->declaration().c_str(),
                                         &implementation, &kernel),
                  POLYTILE_OK)
            << polytile_last_error(ctx_);
        const polytile_status status =
            polytile_run(device, kernel, &launch.threads, 2, arrays, nullptr);
        const bool is_refused = status == POLYTILE_INVALID &&
                                (views_[launch.views[0]].joins || views_[launch.views[1]].joins);
        EXPECT_TRUE(status == POLYTILE_OK || status == POLYTILE_NO_FIT || is_refused)
            << launch.kernel->declaration() << ": " << polytile_last_error(ctx_);
        if (status == POLYTILE_OK)
            run_plainly(launch);
        n_launched += status == POLYTILE_OK;
    }
    polytile_device_close(device);
    compare();
    return n_launched;
}
