#include "queue/small_program.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <unistd.h>

namespace {

const polytile_role reductions[] = {POLYTILE_SUM, POLYTILE_SUM, POLYTILE_PROD, POLYTILE_MIN,
                                    POLYTILE_MAX};

/** Whether it does not matter that it was refused. */
bool is_deserved(polytile_status status) {
    return status == POLYTILE_CONFLICT || status == POLYTILE_NO_FIT ||
           status == POLYTILE_DECLARATION;
}

} // namespace

SmallProgram::Options SmallProgram::Options::draw(Random *random) {
    Options options;
    options.is_long = random->chance(50);
    options.writes_several = random->chance(70);
    options.has_parameters = random->chance(60);
    return options;
}

void SmallProgram::add_field(Twin *twin, const std::vector<int64_t> &extents,
                             int64_t element_bytes) {
    if (random_->chance(25))
        twin->add_internal(extents, element_bytes);
    else
        twin->add_field(extents, element_bytes);
    fields_.push_back(extents);
}

/** Of some hundred bytes to two thousand: a small memory holds a part of them. */
void SmallProgram::add_long_fields(Twin *twin) {
    const int64_t extent = random_->one_of({61, 97, 128, 199, 251});
    for (int64_t n = random_->number(3, 5); n > 0; n--)
        add_field(twin, {extent}, random_->one_of({4, 8, 8}));
}

void SmallProgram::add_fields(Twin *twin) {
    if (options_.is_long)
        return add_long_fields(twin);
    const int64_t most_dims = random_->one_of({1, 2, 2, 3});
    const bool is_flat = random_->chance(50);
    for (int64_t n = random_->number(3, 6); n > 0; n--) {
        std::vector<int64_t> extents;
        for (int64_t d = random_->number(1, most_dims); d > 0; d--)
            extents.push_back(most_dims < 3
                                  ? random_->one_of({1, 1, 2, 3, 5, 8, 13, 16, 17, 23, 32})
                                  : random_->one_of({1, 1, 2, 3, 5, 8, 11}));
        if (is_flat && random_->chance(70))
            extents[0] = 1;
        add_field(twin, extents, random_->one_of({1, 2, 4, 4, 8}));
    }
}

bool SmallProgram::is_taken(int field, const std::vector<FieldUse> &uses) const {
    return std::any_of(uses.begin(), uses.end(),
                       [&](const FieldUse &use) { return use.field == field; });
}

/** One that no use has; -1: none was found. */
int SmallProgram::draw_field(const std::vector<FieldUse> &uses) {
    for (int attempt = 0; attempt < 10; attempt++) {
        const auto last = static_cast<int64_t>(fields_.size()) - 1;
        const int field = static_cast<int>(random_->number(0, last));
        if (!is_taken(field, uses))
            return field;
    }
    return -1;
}

/** Elements that every thread has. */
GenericWindow SmallProgram::stay(int64_t extent) {
    if (random_->chance(40))
        return {GenericWindow::whole, 0, 0};
    const int64_t lo = random_->number(0, extent - 1);
    return {GenericWindow::fixed, lo, random_->chance(70) ? lo : random_->number(lo, extent - 1)};
}

/** An element for each of so many threads, all inside. */
GenericWindow SmallProgram::follow(int index, int64_t extent, int64_t n_threads) {
    const int64_t most = n_threads < 2 ? 3 : std::min<int64_t>(3, (extent - 1) / (n_threads - 1));
    const int64_t factor = random_->number(1, most);
    const int64_t span = factor * (n_threads - 1);
    const int64_t begin = random_->number(0, extent - 1 - span);
    GenericWindow window = {index, begin, begin};
    window.factor = factor;
    if (random_->chance(25)) {
        window.factor = -factor;
        window.lo = window.hi = begin + span;
    }
    return window;
}

GenericWindow SmallProgram::draw_window(int64_t extent, const std::vector<int64_t> &n_threads,
                                        bool is_wide) {
    const int index =
        static_cast<int>(random_->number(0, static_cast<int64_t>(n_threads.size()) - 1));
    const int64_t n = n_threads[static_cast<size_t>(index)];
    if (n > extent || random_->chance(25))
        return stay(extent);
    GenericWindow window = follow(index, extent, n);
    if (is_wide && random_->chance(50)) {
        window.lo -= random_->number(0, 3);
        window.hi += random_->number(0, 3);
        window.step = random_->chance(15) ? 2 : 1;
    }
    if (is_wide && random_->chance(10))
        window.hi = window.lo - random_->number(1, 2);
    return window;
}

GenericSection SmallProgram::draw_section(int field, const std::vector<int64_t> &n_threads,
                                          bool is_wide) {
    GenericSection section;
    for (const int64_t extent : fields_[static_cast<size_t>(field)])
        section.push_back(draw_window(extent, n_threads, is_wide));
    return section;
}

/** No two threads have an element in common: each index has a dimension, or one thread. */
GenericSection SmallProgram::draw_result(int field, std::vector<int64_t> *n_threads) {
    const std::vector<int64_t> &extents = fields_[static_cast<size_t>(field)];
    GenericSection section;
    for (const int64_t extent : extents)
        section.push_back(stay(extent));
    const int64_t turn = random_->number(0, 2);
    for (size_t index = 0; index < n_threads->size(); index++) {
        const size_t d = (index + static_cast<size_t>(turn)) % extents.size();
        int64_t &n = (*n_threads)[index];
        n = index < extents.size() ? std::min(n, extents[d]) : 1;
        if (index >= extents.size())
            continue;
        section[d] = follow(static_cast<int>(index), extents[d], n);
        const int64_t factor = std::abs(section[d].factor);
        const int64_t most =
            extents[d] - 1 - std::max(section[d].hi, section[d].hi + section[d].factor * (n - 1));
        section[d].hi += random_->number(0, std::min(factor - 1, most));
    }
    return section;
}

FieldUse SmallProgram::draw_use(int field, std::vector<int64_t> *n_threads) {
    if (random_->chance(40)) {
        FieldUse use = {POLYTILE_IN, field, {draw_section(field, *n_threads, true)}};
        if (random_->chance(20))
            use.sections.push_back(draw_section(field, *n_threads, true));
        return use;
    }
    return {reductions[random_->number(0, 4)],
            field,
            {draw_section(field, *n_threads, random_->chance(50))},
            random_->chance(40)};
}

std::vector<int64_t> SmallProgram::draw_threads() {
    std::vector<int64_t> n_threads;
    if (options_.is_long)
        return {random_->one_of({31, 61, 97, 128, 251})};
    for (int64_t n = random_->one_of({1, 1, 2, 2, 3}); n > 0; n--)
        n_threads.push_back(random_->one_of({1, 2, 3, 5, 8, 13, 16}));
    return n_threads;
}

/** What threads write, of some fields, each in places of its own. */
void SmallProgram::add_results(std::vector<FieldUse> *uses, std::vector<int64_t> *n_threads) {
    for (int64_t n = random_->one_of({0, 1, 1, options_.writes_several ? 3 : 1, 2}); n > 0; n--) {
        const int field = draw_field(*uses);
        if (field < 0 || (!uses->empty() && !options_.writes_several))
            continue;
        const polytile_role role = random_->chance(60) ? POLYTILE_OUT : POLYTILE_INOUT;
        uses->push_back({role, field, {draw_result(field, n_threads)}});
    }
}

/** Of any type, for bodies; now and then for what is read, too. */
std::vector<GenericParameter> SmallProgram::draw_parameters(std::vector<FieldUse> *uses) {
    std::vector<GenericParameter> parameters = ::draw_parameters(random_, 3);
    if (random_->chance(40))
        shift_a_read(uses, &parameters, 2, random_);
    return parameters;
}

bool SmallProgram::add_kernel(Twin *twin) {
    std::vector<FieldUse> uses;
    std::vector<int64_t> n_threads = draw_threads();
    add_results(&uses, &n_threads);
    for (int64_t n = random_->number(uses.empty() ? 1 : 0, 3); n > 0; n--) {
        const int field = draw_field(uses);
        if (field >= 0)
            uses.push_back(draw_use(field, &n_threads));
    }
    if (std::all_of(uses.begin(), uses.end(),
                    [](const FieldUse &use) { return use.role == POLYTILE_IN; }))
        return false;
    std::rotate(uses.begin(),
                uses.begin() + random_->number(0, static_cast<int64_t>(uses.size()) - 1),
                uses.end());
    const std::vector<GenericParameter> parameters = options_.has_parameters && random_->chance(70)
                                                         ? draw_parameters(&uses)
                                                         : std::vector<GenericParameter>();
    const int64_t n_scratch = random_->chance(25) ? random_->number(1, 5) : 0;
    kernels_.push_back(
        {twin->add_kernel(static_cast<int>(n_threads.size()), uses, parameters, n_scratch),
         n_threads});
    return true;
}

polytile_domain SmallProgram::choose_threads(const std::vector<int64_t> &n_threads) {
    polytile_domain threads = {};
    const bool is_whole = random_->chance(60);
    threads.n_dims = static_cast<int>(n_threads.size());
    for (size_t d = 0; d < n_threads.size(); d++) {
        const int64_t lo = is_whole ? 0 : random_->number(0, n_threads[d] - 1);
        threads.range[d] = {lo, is_whole ? n_threads[d] - 1 : random_->number(lo, n_threads[d] - 1),
                            1};
    }
    return threads;
}

void SmallProgram::step(Twin *twin) {
    const int field =
        static_cast<int>(random_->number(0, static_cast<int64_t>(fields_.size()) - 1));
    const int64_t what = random_->number(0, 99);
    if (what < 5)
        return twin->wait();
    if (what < 8)
        return twin->wait_for(field);
    if (what < 10)
        return twin->pause();
    if (what < 14)
        return twin->resume();
    if (what < 19)
        return twin->renew(field);
    const Kernel &kernel = kernels_[static_cast<size_t>(
        random_->number(0, static_cast<int64_t>(kernels_.size()) - 1))];
    const int64_t block[] = {random_->one_of({1, 2}), random_->one_of({1, 4}), 1};
    polytile_launch_options options = {};
    options.plan.block = random_->chance(80) ? block : nullptr;
    const polytile_status status =
        twin->launch(kernel.number, choose_threads(kernel.n_threads), &options);
    EXPECT_TRUE(status == POLYTILE_OK || is_deserved(status)) << twin->error();
}

int64_t SmallProgram::run(const std::string &devices, const TwinPlace &place) {
    Twin twin(devices, random_, place);
    if (testing::Test::HasFailure())
        return 0;
    add_fields(&twin);
    for (int64_t n = random_->number(2, 5); n > 0;)
        n -= add_kernel(&twin);
    for (int64_t n = random_->one_of({3, 8, 20, 40}); n > 0 && !testing::Test::HasFailure(); n--)
        step(&twin);
    twin.resume();
    twin.finish();
    return twin.n_launched();
}

void Delays::add_to(TwinPlace *place) {
    const auto prepare = place->prepare;
    place->prepare = [this, prepare](polytile_implementation *implementation) {
        delayed_.push_back({*implementation, most_us_});
        implementation->user = &delayed_.back();
        implementation->host = [](const polytile_domain *threads, const polytile_view *views,
                                  void *user) {
            const auto *of = static_cast<const Delayed *>(user);
            static thread_local uint64_t draw = reinterpret_cast<uintptr_t>(&draw);
            draw = draw * 6364136223846793005U + 1442695040888963407U;
            if (draw >> 62U == 0)
                usleep(static_cast<useconds_t>((draw >> 33U) % static_cast<uint64_t>(of->most_us)));
            of->inner.host(threads, views, of->inner.user);
        };
        prepare(implementation);
    };
}
