#include "support/random_instance.h"

#include <algorithm>

namespace {

const char *const index_names[] = {"i", "j", "k", "l"};
const char *const role_words[] = {"in", "out", "inout", "sum", "prod", "min", "max"};

int64_t declared_value(const polytile_affine &affine, const Point &thread, int64_t parameter) {
    int64_t value = affine.constant + affine.parameter[0] * parameter;
    for (size_t k = 0; k < thread.size(); k++)
        value += affine.index[k] * thread[k];
    return value;
}

std::string declared_text(const polytile_affine &affine, int n_indices) {
    std::string text = std::to_string(affine.constant);
    for (int k = 0; k < n_indices; k++)
        if (affine.index[k] != 0)
            text += (affine.index[k] < 0 ? " - " : " + ") +
                    std::to_string(std::abs(affine.index[k])) + "*" + index_names[k];
    if (affine.parameter[0] != 0)
        text += (affine.parameter[0] < 0 ? " - " : " + ") +
                std::to_string(std::abs(affine.parameter[0])) + "*n";
    return text;
}

std::string declared_text(const polytile_subscript &subscript, int n_indices) {
    std::string text = subscript.from_first ? "" : declared_text(subscript.lo, n_indices);
    text += ":" + (subscript.to_last ? std::string() : declared_text(subscript.hi, n_indices));
    text += subscript.step == 1 ? "" : ":" + std::to_string(subscript.step);
    return subscript.edge == POLYTILE_EDGE_CLIP
               ? text
               : std::string(subscript.edge == POLYTILE_EDGE_WRAP ? "wrap(" : "clamp(") + text +
                     ")";
}

/** A range between two ends in any order, if wanted. */
polytile_range in_order(polytile_range range, bool wanted) {
    return wanted && range.hi < range.lo ? polytile_range{range.hi, range.lo, 1} : range;
}

/** An expression in up to two indices; of none a constant, or a parameter. */
polytile_affine draw_affine(Random *random, int n_indices) {
    polytile_affine affine = {};
    affine.constant = random->number(-3, 3);
    const int64_t n_terms = n_indices == 0 ? 0 : random->one_of({0, 1, 1, 1, 1, 2});
    for (int64_t t = 0; t < n_terms; t++)
        affine.index[random->number(0, n_indices - 1)] =
            random->one_of({1, 1, 1, 1, -1, 2, 3, -2, 4});
    if (random->chance(10))
        affine.parameter[0] = random->one_of({1, -1});
    return affine;
}

} // namespace

RandomLaunch::RandomLaunch(polytile_context *ctx, Random *random, const RandomShape &shape)
    : shape_(shape), ctx_(ctx) {
    threads_.n_dims = static_cast<int>(random->number(1, shape.most_indices));
    int64_t n_threads = 1;
    for (int k = 0; k < threads_.n_dims; k++) {
        const int64_t most =
            std::min(threads_.n_dims == 1 ? shape.most_extent_alone : shape.most_extent,
                     std::max<int64_t>(1, shape.most_threads / n_threads));
        const int64_t extent = random->number(1, most);
        const int64_t lo = random->number(-2, 4);
        threads_.range[k] = {lo, lo + extent - 1, 1};
        n_threads *= extent;
    }
    parameters_.push_back(POLYTILE_PARAMETER("n", random->number(-2, 6)));
    const int n_operands = static_cast<int>(random->number(1, shape.most_operands));
    for (int p = 0; p < n_operands; p++) {
        names_.push_back(std::string(1, static_cast<char>('A' + p)));
        n_dims_.push_back(static_cast<int>(random->number(1, shape.most_dims)));
        const int64_t n_sections = random->number(1, shape.most_sections);
        for (int64_t s = 0; s < n_sections; s++) {
            pti_access access = {};
            access.array = p;
            access.n_dims = n_dims_.back();
            access.exact = !random->chance(shape.inexact_percent);
            draw_role(random, p, &access);
            for (int d = 0; d < access.n_dims; d++)
                draw_subscript(random, &access, d);
            if (shape.conflict_free && access.role != POLYTILE_IN && s > 0)
                continue;
            if (shape.conflict_free &&
                (access.role == POLYTILE_OUT || access.role == POLYTILE_INOUT))
                draw_written_alone(random, &access);
            if (!shape.roomy && shape.edge_percent > 0 && random->chance(50))
                draw_edges(random, &access);
            n_dims_.back() = access.n_dims;
            accesses_.push_back(access);
        }
    }
    for (int p = 0; p < n_operands; p++)
        draw_array(random, p);
}

RandomLaunch::~RandomLaunch() {
    pti_instance_free(instance_);
}

/* All sections of a conflict-free array have one role; otherwise a reduction keeps to its own. */
void RandomLaunch::draw_role(Random *random, int operand, pti_access *access) {
    const pti_access *first = nullptr;
    for (const pti_access &other : accesses_)
        if (other.array == operand && first == nullptr)
            first = &other;
    const bool keeps = first != nullptr && (shape_.conflict_free || first->role > POLYTILE_INOUT);
    if (keeps) {
        access->role = first->role;
        access->fresh = first->fresh;
    } else {
        const int64_t most = first == nullptr ? POLYTILE_MAX : POLYTILE_INOUT;
        access->role = static_cast<polytile_role>(random->chance(50) ? int64_t{POLYTILE_IN}
                                                                     : random->number(0, most));
        access->fresh = access->role > POLYTILE_INOUT && random->chance(50);
    }
}

void RandomLaunch::draw_subscript(Random *random, pti_access *access, int d) {
    polytile_subscript *subscript = &access->subscript[d];
    *subscript = {};
    subscript->step = 1;
    subscript->lo = draw_affine(random, threads_.n_dims);
    subscript->hi = subscript->lo;
    switch (random->number(0, 9)) {
    case 0: /* a whole dimension */
        subscript->lo = subscript->hi = polytile_affine{};
        subscript->from_first = subscript->to_last = true;
        subscript->step = random->one_of({1, 1, 2});
        break;
    case 1: /* to the end, or from the start */
        (random->chance(50) ? subscript->from_first : subscript->to_last) = true;
        break;
    case 2: /* ends that move apart, and may have passed each other for some threads, or for all */
    case 3:
        subscript->hi = draw_affine(random, threads_.n_dims);
        subscript->hi.constant += random->chance(15) ? -random->number(1, 9) : random->number(0, 6);
        subscript->step = random->one_of({1, 1, 1, 2, 3});
        break;
    case 4: /* windows, some of them empty */
    case 5:
    case 6:
        subscript->hi.constant += random->chance(15) ? -random->number(1, 6) : random->number(0, 6);
        subscript->step = random->one_of({1, 1, 1, 2, 3, 4});
        break;
    default: /* one element */
        break;
    }
}

/* Edges are of exact sections; of conflict-free ones, they are where nothing is written. */
void RandomLaunch::draw_edges(Random *random, pti_access *access) {
    const bool is_written = access->role == POLYTILE_OUT || access->role == POLYTILE_INOUT;
    if (!access->exact || (shape_.conflict_free && is_written))
        return;
    for (int d = 0; d < access->n_dims; d++)
        if (random->chance(shape_.edge_percent))
            access->subscript[d].edge = access->role == POLYTILE_IN && random->chance(50)
                                            ? POLYTILE_EDGE_CLAMP
                                            : POLYTILE_EDGE_WRAP;
}

bool RandomLaunch::has_edge(int operand, int d) const {
    for (const pti_access &access : accesses_)
        if (access.array == operand && access.subscript[d].edge != POLYTILE_EDGE_CLIP)
            return true;
    return false;
}

/* One dimension an index, in which its threads lie further apart than they reach, in any order; an
 * index left out is possible only when it has one value. */
void RandomLaunch::draw_written_alone(Random *random, pti_access *access) {
    access->n_dims = threads_.n_dims;
    access->exact = true;
    std::vector<int> order;
    for (int k = 0; k < threads_.n_dims; k++)
        order.insert(order.begin() + random->number(0, k), k);
    for (int d = 0; d < access->n_dims; d++) {
        polytile_subscript *subscript = &access->subscript[d];
        *subscript = {};
        subscript->step = 1;
        const int64_t speed = random->one_of({1, 1, 1, 1, -1, 2, 3});
        subscript->lo.constant = random->number(-2, 2);
        subscript->lo.index[order[static_cast<size_t>(d)]] = speed;
        subscript->hi = subscript->lo;
        subscript->hi.constant += random->number(0, std::abs(speed) - 1);
    }
    if (random->chance(20))
        draw_partly_written(random, access);
}

/* One dimension whose window is empty, or one more, of one element or of ends that may pass each
 * other: threads that did not meet before do not now. */
void RandomLaunch::draw_partly_written(Random *random, pti_access *access) {
    const bool is_more = access->n_dims < POLYTILE_MAX_DIMS && random->chance(70);
    const int d =
        is_more ? access->n_dims++ : static_cast<int>(random->number(0, access->n_dims - 1));
    polytile_subscript *subscript = &access->subscript[d];
    if (!is_more) {
        subscript->hi.constant = subscript->lo.constant - random->number(1, 5);
        return;
    }
    *subscript = {};
    subscript->step = random->one_of({1, 1, 2});
    subscript->lo = draw_affine(random, random->chance(40) ? 0 : threads_.n_dims);
    subscript->hi = subscript->lo;
    if (random->chance(60))
        subscript->hi = draw_affine(random, threads_.n_dims);
    subscript->hi.constant += random->number(0, 3);
}

polytile_domain RandomLaunch::ends_of(const pti_access &access, const Point &thread) const {
    polytile_domain box = {};
    const polytile_domain *domain = domains_.size() > static_cast<size_t>(access.array)
                                        ? &domains_[static_cast<size_t>(access.array)]
                                        : nullptr;
    box.n_dims = access.n_dims;
    for (int d = 0; d < access.n_dims; d++) {
        const polytile_subscript &subscript = access.subscript[d];
        int64_t lo = declared_value(subscript.lo, thread, parameters_[0].value);
        int64_t hi = declared_value(subscript.hi, thread, parameters_[0].value);
        if (domain != nullptr && subscript.from_first)
            lo = domain->range[d].lo;
        if (domain != nullptr && subscript.to_last)
            hi = domain->range[d].hi;
        box.range[d] = {lo, hi, 1};
    }
    return box;
}

polytile_domain RandomLaunch::section_of(const pti_access &access, const Point &thread) const {
    polytile_domain box = ends_of(access, thread);
    for (int d = 0; d < access.n_dims; d++)
        box.range[d] = pti_range(box.range[d].lo, box.range[d].hi, access.subscript[d].step);
    return box;
}

bool RandomLaunch::has_many_threads() const {
    return pti_box_count(&threads_) > 500;
}

/* All expressions are extreme at the corners. */
polytile_domain RandomLaunch::corners() const {
    polytile_domain corners = threads_;
    for (int k = 0; k < corners.n_dims; k++)
        corners.range[k].step = std::max<int64_t>(1, threads_.range[k].hi - threads_.range[k].lo);
    return corners;
}

/* The box around all sections of all threads, whole dimensions counting for nothing; of many
 * threads, around all ends, those of empty sections too. */
polytile_domain RandomLaunch::bounds_of(int operand) const {
    const int n_dims = n_dims_[static_cast<size_t>(operand)];
    polytile_domain bounds = pti_box_empty(n_dims);
    for (const pti_access &access : accesses_)
        if (access.array == operand)
            for_each_point(has_many_threads() ? corners() : threads_, [&](const Point &thread) {
                const polytile_domain box =
                    has_many_threads() ? ends_of(access, thread) : section_of(access, thread);
                for (int d = 0; d < n_dims; d++)
                    bounds.range[d] = pti_range_coarse_union(
                        bounds.range[d], in_order(box.range[d], has_many_threads()));
            });
    for (int d = 0; d < n_dims; d++) {
        if (pti_range_is_empty(bounds.range[d]))
            bounds.range[d] = {0, 0, 1};
        bounds.range[d].step = 1;
    }
    return bounds;
}

void RandomLaunch::draw_array(Random *random, int operand) {
    polytile_domain domain = bounds_of(operand);
    for (int d = 0; d < domain.n_dims; d++) {
        polytile_range &range = domain.range[d];
        range.lo -= shape_.roomy ? 1000 : random->one_of({0, 0, 1, 2, -1, -2});
        range.hi += shape_.roomy ? 1000 : random->one_of({0, 0, 1, 2, -1, -2});
        range.hi = std::max(range.lo, range.hi);
        if (has_edge(operand, d) && random->chance(80)) {
            range.lo = random->number(-3, 3);
            range.hi = range.lo + random->one_of({1, 2, 3, 5, 7, 11}) - 1;
        }
    }
    is_small_ = is_small_ && (shape_.roomy || pti_box_count(&domain) <= shape_.most_elements);
    domains_.push_back(domain);
}

void RandomLaunch::grow_arrays() {
    for (size_t p = 0; p < domains_.size(); p++) {
        const polytile_domain bounds = bounds_of(static_cast<int>(p));
        for (int d = 0; d < bounds.n_dims; d++) {
            polytile_range &range = domains_[p].range[d];
            if (!has_edge(static_cast<int>(p), d))
                range = pti_range_coarse_union(range, bounds.range[d]);
            range.step = 1;
        }
        is_small_ =
            is_small_ && (shape_.roomy || pti_box_count(&domains_[p]) <= shape_.most_elements);
    }
}

void RandomLaunch::add_touched(const pti_access &access, const Point &thread,
                               Elements *elements) const {
    const polytile_domain &domain = domains_[static_cast<size_t>(access.array)];
    for_each_point(section_of(access, thread), [&](const Point &beyond) {
        Point element = beyond;
        bool is_inside = true;
        for (size_t d = 0; d < element.size(); d++) {
            const int64_t lo = domain.range[d].lo, hi = domain.range[d].hi;
            while (access.subscript[d].edge == POLYTILE_EDGE_WRAP && element[d] < lo)
                element[d] += hi - lo + 1;
            while (access.subscript[d].edge == POLYTILE_EDGE_WRAP && element[d] > hi)
                element[d] -= hi - lo + 1;
            if (access.subscript[d].edge == POLYTILE_EDGE_CLAMP)
                element[d] = std::min(std::max(element[d], lo), hi);
            is_inside = is_inside && element[d] >= lo && element[d] <= hi;
        }
        if (is_inside)
            elements->add(element);
    });
}

bool RandomLaunch::touches_outside() const {
    bool found = false;
    for (const pti_access &access : accesses_) {
        const polytile_domain &domain = domains_[static_cast<size_t>(access.array)];
        for_each_point(threads_, [&](const Point &thread) {
            const polytile_domain box = section_of(access, thread);
            bool is_apart = false;
            for (int d = 0; d < box.n_dims; d++)
                is_apart = is_apart || (access.subscript[d].edge == POLYTILE_EDGE_CLIP &&
                                        !pti_range_meets(box.range[d], domain.range[d]));
            if (access.exact && !pti_box_is_empty(&box) && is_apart)
                found = true;
        });
    }
    return found;
}

polytile_status RandomLaunch::instantiate(const pti_instance **instance) {
    std::vector<char *> array_names, index_names_used, parameter_names;
    std::vector<polytile_array *> arrays(domains_.size());
    for (std::string &name : names_)
        array_names.push_back(&name[0]);
    polytile_declaration declaration = {};
    std::string name = "random", parameter = "n";
    declaration.name = &name[0];
    declaration.n_indices = threads_.n_dims;
    for (int k = 0; k < threads_.n_dims; k++)
        declaration.index_name[k] = const_cast<char *>(index_names[k]);
    declaration.n_parameters = 1;
    declaration.parameter_name[0] = &parameter[0];
    declaration.parameter_type[0] = POLYTILE_I64;
    declaration.is_in_subscripts[0] = true;
    declaration.n_arrays = static_cast<int>(names_.size());
    declaration.array_name = array_names.data();
    declaration.array_n_dims = n_dims_.data();
    const auto is_scratch = std::make_unique<bool[]>(names_.size());
    declaration.is_scratch = is_scratch.get();
    declaration.n_accesses = static_cast<int>(accesses_.size());
    declaration.access = accesses_.data();
    polytile_kernel kernel = {};
    kernel.object.context = ctx_;
    kernel.declaration = &declaration;
    for (size_t p = 0; p < domains_.size(); p++)
        if (polytile_array_describe(ctx_, names_[p].c_str(), POLYTILE_F32, &domains_[p],
                                    &arrays[p]))
            return POLYTILE_INTERNAL;
    pti_instance_free(instance_);
    const polytile_status status =
        pti_instance_create(&kernel, &threads_, arrays.data(), 1, parameters_.data(), &instance_);
    for (polytile_array *array : arrays)
        polytile_array_destroy(array);
    *instance = instance_;
    return status;
}

std::string RandomLaunch::declaration_text(const std::string &list) const {
    std::string text = "random[";
    for (int k = 0; k < threads_.n_dims; k++)
        text += (k ? ", " : "") + std::string(index_names[k]);
    text += "]" + list;
    for (size_t a = 0; a < accesses_.size(); a++) {
        const pti_access &access = accesses_[a];
        text += (a ? "; " : ": ") + std::string(access.fresh ? "out " : "") +
                role_words[access.role] + " " + names_[static_cast<size_t>(access.array)] + "[";
        for (int d = 0; d < access.n_dims; d++)
            text += (d ? ", " : "") + declared_text(access.subscript[d], threads_.n_dims);
        text += "]";
    }
    return text;
}
