#include "support/random_chain.h"

#include <algorithm>

/* What the kernels of random chains read and write. */

static const polytile_role accumulating[] = {POLYTILE_SUM, POLYTILE_PROD, POLYTILE_MIN,
                                             POLYTILE_MAX};

/* Sections. */

/** Around an index; now and then only every other element. */
GenericWindow RandomChain::window(int index, int64_t reach) {
    const int64_t a = random_->number(-reach, reach), b = random_->number(-reach, reach);
    GenericWindow made = {index, std::min(a, b), std::max(a, b)};
    if (made.hi - made.lo >= 2 && random_->chance(shape_.odd_percent))
        made.step = 2;
    return made;
}

/** The same elements for every thread. */
GenericWindow RandomChain::part_of(int64_t extent) {
    const int64_t a = random_->number(0, extent - 1), b = random_->number(0, extent - 1);
    GenericWindow made = {GenericWindow::fixed, std::min(a, b), std::max(a, b)};
    made.step = random_->chance(25) ? random_->number(1, 3) : 1;
    return made;
}

GenericSection RandomChain::around(int64_t reach) {
    GenericSection section;
    for (int d = 0; d < n_dims_; d++)
        section.push_back(window(d, reach));
    return section;
}

/** Moved along one dimension only. */
GenericSection RandomChain::one_sided(int64_t lo, int64_t hi) {
    GenericSection section = around(0);
    GenericWindow &moved = section[static_cast<size_t>(any_dim())];
    moved.lo = lo;
    moved.hi = hi;
    return section;
}

/** A window without elements, wherever the thread is. */
GenericWindow RandomChain::nothing(int index) {
    const int64_t lo = random_->number(-2, 3);
    return {index, lo, lo - random_->number(1, 3)};
}

/** Around a thread; now and then with two indices in each other's places, or all, a part or nothing
 * of one dimension. */
GenericSection RandomChain::read() {
    GenericSection section = around(n_dims_ < 3 ? 2 : 1);
    if (is_square_ && n_dims_ > 1 && random_->chance(6))
        std::swap(section[0], section[1]);
    const size_t d = static_cast<size_t>(any_dim());
    if (random_->chance(4))
        section[d] = {GenericWindow::whole, 0, 0};
    else if (random_->chance(4))
        section[d] = part_of(extents_[d]);
    else if (random_->chance(4))
        section[d] = nothing(static_cast<int>(d));
    return section;
}

/** One index a dimension but for the last, of which a thread has all or a part. */
GenericSection RandomChain::row(bool is_written) {
    GenericSection section = around(is_written ? 0 : 1);
    section.back() =
        random_->chance(40) ? GenericWindow{GenericWindow::whole, 0, 0} : part_of(extents_.back());
    return section;
}

/** Coefficients: something small that is read, in whatever order. */
FieldUse RandomChain::table() {
    const int d = any_dim();
    const int64_t last = extents_[static_cast<size_t>(d)] - 1;
    switch (random_->number(is_tabular_ ? 7 : 0, 11)) {
    case 0:
        return {POLYTILE_IN, line(d), {{window(d, 1)}}};
    case 1:
        return {POLYTILE_IN, line(d), {{{GenericWindow::whole, 0, 0}}}};
    case 2:
        return {POLYTILE_IN, line(d), {{{d, last, last, 1, -1}}}};
    case 3:
        return {POLYTILE_IN, line(d), {{{d, 0, 0, 1, 1, -1, true}}}};
    case 4:
        return {POLYTILE_IN, sums_, {{{0, 0, 0, 1, 1, n_dims_ > 1 ? n_dims_ - 1 : -1}}}};
    case 5:
        return {POLYTILE_IN, wide_, {{{0, 0, random_->number(0, 2), 1, 2}}}};
    case 6:
        return {POLYTILE_IN, plane_, {{window(0, 1), part_of(extent(plane_, 1))}}};
    case 7:
        return {POLYTILE_IN,
                table_,
                {{part_of(extent(table_, 0)), {GenericWindow::whole, 0, 0}},
                 {part_of(extent(table_, 0)), part_of(extent(table_, 1))}}};
    default:
        return {POLYTILE_IN, table_, {{part_of(extent(table_, 0)), part_of(extent(table_, 1))}}};
    }
}

/* Kernels. */

/** Read fields of all dimensions other than one, and now and then a table. */
void RandomChain::add_reads(int written, std::vector<FieldUse> *uses) {
    for (int f = 0; f < n_whole_; f++) {
        if (f == written || !random_->chance(n_whole_ == 2 ? 90 : 60))
            continue;
        uses->push_back({POLYTILE_IN, f, {read()}});
        if (random_->chance(40))
            uses->back().sections.push_back(around(1));
        if (random_->chance(5))
            uses->push_back({POLYTILE_IN, f, {around(1)}});
    }
    if (random_->chance(is_tabular_ ? 90 : 35))
        uses->push_back(table());
}

/** Read some fields around a thread, write another at it. */
std::vector<FieldUse> RandomChain::stencil() {
    const int to = any_whole();
    std::vector<FieldUse> uses = {
        {random_->chance(65) ? POLYTILE_OUT : POLYTILE_INOUT, to, {around(0)}}};
    add_reads(to, &uses);
    return uses;
}

/** The same, and a plane, or a second field that is read at the thread alone. */
std::vector<FieldUse> RandomChain::two_results() {
    const int to = any_whole(), other = (to + 1) % n_whole_;
    std::vector<FieldUse> uses = {{POLYTILE_OUT, to, {around(0)}},
                                  {POLYTILE_INOUT, other, {around(0)}}};
    if (n_whole_ > 2)
        uses.push_back({POLYTILE_IN, (to + 2) % n_whole_, {read()}});
    if (random_->chance(50))
        uses.push_back(table());
    return uses;
}

std::vector<FieldUse> RandomChain::rows() {
    const int to = any_whole(), from = (to + 1) % n_whole_;
    std::vector<FieldUse> uses = {
        {POLYTILE_IN, from, {row(false)}},
        {random_->chance(65) ? POLYTILE_OUT : POLYTILE_INOUT, to, {row(true)}}};
    if (random_->chance(30))
        uses.push_back({POLYTILE_IN, table_, {{part_of(extent(table_, 0)), part_of(2)}}});
    return uses;
}

/** Write every other element of a dimension. */
std::vector<FieldUse> RandomChain::stripes() {
    const int to = any_whole(), from = (to + 1) % n_whole_;
    const int64_t first = random_->number(0, 1);
    GenericSection written = around(0);
    written[static_cast<size_t>(any_dim())].factor = 2;
    for (GenericWindow &of : written)
        of.lo = of.hi = of.factor == 2 ? first : 0;
    return {{POLYTILE_IN, from, {around(1)}},
            {random_->chance(60) ? POLYTILE_OUT : POLYTILE_INOUT, to, {written}}};
}

/** Threads combine into their neighbourhood. */
std::vector<FieldUse> RandomChain::scatter() {
    const int to = any_whole(), from = (to + 1) % n_whole_;
    GenericSection written = around(1);
    for (GenericWindow &of : written)
        of.step = 1;
    if (random_->chance(5))
        written[0] = nothing(0);
    return {{POLYTILE_IN, from, {around(1)}},
            {accumulating[random_->number(0, 3)], to, {written}, random_->chance(15)}};
}

/** One index more than the field has dimensions, over a table's rows. */
std::vector<FieldUse> RandomChain::product() {
    const int to = any_whole(), from = (to + 1) % n_whole_;
    return {{POLYTILE_IN, from, {around(1)}},
            {POLYTILE_IN, table_, {{{n_dims_, 0, 0}, part_of(extent(table_, 1))}}},
            {accumulating[random_->number(0, 3)], to, {around(0)}, random_->chance(30)}};
}

/** Combine a field into a line of it, or into one element. */
std::vector<FieldUse> RandomChain::reduction() {
    const int d = any_dim();
    const bool is_fresh = random_->chance(30);
    const polytile_role role = accumulating[random_->number(0, 3)];
    FieldUse result = {role, line(d), {{{d, 0, 0}}}, is_fresh};
    if (random_->chance(20))
        result = {role, single_, {{{GenericWindow::whole, 0, 0}}}, is_fresh};
    return {{POLYTILE_IN, any_whole(), {around(1)}}, result};
}

std::vector<FieldUse> RandomChain::fill_table() {
    const int to = is_tabular_ || random_->chance(60) ? table_ : plane_;
    std::vector<FieldUse> uses = {
        {random_->chance(65) ? POLYTILE_OUT : POLYTILE_INOUT, to, {{{0, 0, 0}, {1, 0, 0}}}}};
    if (random_->chance(40))
        uses.push_back({POLYTILE_IN, wide_, {{{0, 0, 1}}}});
    return uses;
}

/** A line from another, or from a part of each row of a field. */
std::vector<FieldUse> RandomChain::fill_line() {
    std::vector<FieldUse> uses = {{POLYTILE_OUT, line(0), {{{0, 0, 0}}}}};
    GenericSection from = {window(0, 1)};
    for (int d = 1; d < n_dims_; d++)
        from.push_back(part_of(extents_[static_cast<size_t>(d)]));
    uses.push_back({POLYTILE_IN, any_whole(), {from}});
    return uses;
}
