#include "support/random_chain.h"

#include <algorithm>

RandomChain::RandomChain(Random *random, const RandomChainShape &shape)
    : random_(random), shape_(shape), n_dims_(static_cast<int>(random->number(1, 3))),
      is_square_(random->chance(30)), is_tabular_(random->chance(15)),
      is_turned_(random->chance(15)) {
    const int64_t most = shape.most_along[n_dims_ - 1];
    for (int d = 0; d < n_dims_; d++)
        extents_.push_back(is_square_ && d > 0 ? extents_[0] : random->number(most / 2 + 1, most));
    if (!is_square_ && random->chance(80))
        extents_[0] *= shape.times_longer;
    make_fields();
    for (int64_t n = random->number(1, 4); n > 0; n--)
        add_any();
    if (random->chance(35))
        make_pattern();
    if (is_tabular_ || random->chance(20))
        filling_ = add(2, fill_table());
}

/* Arrays. */

int RandomChain::field(std::vector<int64_t> extents, bool may_be_internal) {
    fields_.push_back({std::move(extents), random_->one_of({1, 2, 4, 8}),
                       may_be_internal && random_->chance(30)});
    return static_cast<int>(fields_.size()) - 1;
}

/** Those of all dimensions, a line of each, and tables of several shapes. */
void RandomChain::make_fields() {
    n_whole_ = static_cast<int>(random_->number(2, 4));
    for (int f = 0; f < n_whole_; f++)
        field(extents_, true);
    for (int d = 0; d < n_dims_; d++)
        field({extents_[static_cast<size_t>(d)]}, true);
    single_ = field({1}, false);
    table_ = field({random_->number(3, 12), random_->number(2, 8)}, true);
    fields_.back().is_internal |= is_tabular_;
    const int64_t beside = n_dims_ > 1 ? extents_.back() : random_->number(2, 5);
    plane_ = field({extents_[0], beside}, true);
    int64_t sum = 0;
    for (const int64_t extent : extents_)
        sum += extent;
    sums_ = field({sum}, true);
    wide_ = field({2 * extents_[0] + 2}, true);
}

bool RandomChain::is_used(int field) const {
    for (const Kernel &kernel : kernels_)
        for (const FieldUse &use : kernel.uses)
            if (use.field == field)
                return true;
    return false;
}

int64_t RandomChain::data_bytes() const {
    int64_t sum = 0;
    for (size_t f = 0; f < fields_.size(); f++) {
        int64_t n_bytes = is_used(static_cast<int>(f)) ? fields_[f].element_bytes : 0;
        for (const int64_t extent : fields_[f].extents)
            n_bytes *= extent;
        sum += n_bytes;
    }
    return sum;
}

int64_t RandomChain::n_used() const {
    int64_t n = 0;
    for (int f = 0; f < static_cast<int>(fields_.size()); f++)
        n += is_used(f);
    return n;
}

/* Kernels. */

/** The section of a kernel whose indices are in the order n - 1, ..., 0. */
void RandomChain::turn(std::vector<FieldUse> *uses) {
    for (FieldUse &use : *uses)
        for (GenericSection &section : use.sections)
            for (GenericWindow &window : section) {
                if (window.index >= 0)
                    window.index = n_dims_ - 1 - window.index;
                if (window.added >= 0)
                    window.added = n_dims_ - 1 - window.added;
            }
}

/** Now and then some, one of which may move what is read. */
std::vector<GenericParameter> RandomChain::parameters(std::vector<FieldUse> *uses) {
    if (shape_.parameter_percent == 0 || !random_->chance(shape_.parameter_percent))
        return {};
    std::vector<GenericParameter> drawn = draw_parameters(random_, 3);
    if (random_->chance(30))
        shift_a_read(uses, &drawn, 1, random_);
    return drawn;
}

int RandomChain::add(int n_indices, std::vector<FieldUse> uses) {
    if (is_turned_ && n_indices == n_dims_ && random_->chance(60))
        turn(&uses);
    const std::vector<GenericParameter> drawn = parameters(&uses);
    std::vector<GenericAccess> accesses;
    for (const FieldUse &use : uses) {
        const Field &of = fields_[static_cast<size_t>(use.field)];
        accesses.push_back({use.role, use.is_fresh, of.extents, of.element_bytes, use.sections});
    }
    kernels_.push_back(
        {n_indices, std::move(uses), GenericKernel(n_indices, std::move(accesses), drawn)});
    return static_cast<int>(kernels_.size()) - 1;
}

/** Mostly stencils. */
int RandomChain::add_any() {
    if (random_->chance(shape_.reduction_percent)) {
        if (n_dims_ < 3 && random_->chance(25))
            return add(n_dims_ + 1, product());
        return add(n_dims_, random_->chance(40) ? scatter() : reduction());
    }
    const int64_t kind = random_->number(0, 99);
    if (kind < 65)
        return add(n_dims_, stencil());
    if (kind < 72)
        return add(n_dims_, two_results());
    if (kind < 82 && n_dims_ > 1)
        return add(n_dims_ - 1, rows());
    if (kind < 90)
        return add(n_dims_, stripes());
    return kind < 95 ? add(2, fill_table()) : add(1, fill_line());
}

/** Kernels that alternate in a step. */
void RandomChain::make_pattern() {
    const int A = 0, B = 1, C = n_whole_ > 2 ? 2 : 1;
    const GenericSection here = around(0);
    const int64_t kind = random_->number(0, 2), reach = random_->number(1, 2);
    if (kind == 0) {
        pattern_ = {add(n_dims_, {{POLYTILE_IN, A, {around(reach)}}, {POLYTILE_OUT, B, {here}}}),
                    add(n_dims_, {{POLYTILE_IN, B, {here}}, {POLYTILE_OUT, A, {here}}})};
    } else if (kind == 1) {
        pattern_ = {
            add(n_dims_, {{POLYTILE_IN, A, {one_sided(0, reach)}}, {POLYTILE_INOUT, B, {here}}}),
            add(n_dims_, {{POLYTILE_IN, B, {one_sided(-reach, 0)}}, {POLYTILE_INOUT, A, {here}}})};
    } else {
        const int turn[] = {A, B, C};
        for (int k = 0; k < (C == B ? 2 : 3); k++) {
            const int from = turn[k], to = turn[(k + 1) % (C == B ? 2 : 3)];
            std::vector<FieldUse> uses = {{POLYTILE_IN, from, {around(reach)}},
                                          {POLYTILE_OUT, to, {here}}};
            if (C != B && random_->chance(50))
                uses.push_back({POLYTILE_IN, turn[(k + 2) % 3], {here}});
            pattern_.push_back(add(n_dims_, uses));
        }
    }
}

/* Launches. */

/** In one dimension: all, without a border, a part, one thread, or those at an end; none, where the
 * fields are too short for the kernel. */
void RandomChain::narrow(polytile_range *range) {
    const int64_t n = range->hi - range->lo + 1, kind = random_->number(0, 9);
    if (n <= 0)
        return;
    if (kind < 3) {
        const int64_t border = random_->number(0, std::min<int64_t>(3, (n - 1) / 2));
        range->lo += border;
        range->hi -= random_->number(0, border);
    } else if (kind < 6) {
        const int64_t a = random_->number(range->lo, range->hi),
                      b = random_->number(range->lo, range->hi);
        *range = {std::min(a, b), std::max(a, b), 1};
    } else if (kind == 6) {
        range->lo = range->hi = random_->number(range->lo, range->hi);
    } else if (kind == 7) {
        *(random_->chance(50) ? &range->lo : &range->hi) = range->lo + (n - 1) / 2;
    }
}

polytile_domain RandomChain::choose_threads(int kernel) {
    polytile_domain threads = kernels_[static_cast<size_t>(kernel)].generic.widest();
    const bool is_whole = random_->chance(45);
    for (int d = 0; d < threads.n_dims && !is_whole; d++)
        narrow(&threads.range[d]);
    return threads;
}

RandomChain::Launch RandomChain::any() {
    const int kernel =
        static_cast<int>(random_->number(0, static_cast<int64_t>(kernels_.size()) - 1));
    return {kernel, choose_threads(kernel)};
}

RandomChain::Launch RandomChain::first() {
    if (!is_tabular_)
        return any();
    Launch made = {filling_, kernels_[static_cast<size_t>(filling_)].generic.widest()};
    for (int d = 0; d < 2; d++)
        narrow(&made.threads.range[d]);
    return made;
}

std::vector<RandomChain::Launch> RandomChain::step() {
    std::vector<Launch> launches;
    if (!pattern_.empty() && random_->chance(80)) {
        for (const int kernel : pattern_)
            launches.push_back({kernel, choose_threads(kernel)});
        if (random_->chance(20))
            launches.push_back(any());
        return launches;
    }
    for (int64_t n = random_->number(1, 4); n > 0; n--)
        launches.push_back(any());
    return launches;
}

std::string RandomChain::text_of(const Launch &launch) const {
    const Kernel &kernel = kernels_[static_cast<size_t>(launch.kernel)];
    std::string text = kernel.generic.declaration() + " on fields";
    for (const FieldUse &use : kernel.uses)
        text += " " + std::to_string(use.field);
    for (int d = 0; d < launch.threads.n_dims; d++)
        text += (d == 0 ? " over " : ",") + std::to_string(launch.threads.range[d].lo) + ":" +
                std::to_string(launch.threads.range[d].hi);
    return text;
}
