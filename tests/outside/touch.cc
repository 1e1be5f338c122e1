#include "outside/touch.h"

#include "outside/value.h"

#include <algorithm>

namespace outside {

namespace {

enum { NOBODY = -1, MANY = -2 };

/** Who reads, stores to and combines into one element: a thread's number, nobody, or many. */
struct Element {
    int64_t reader = NOBODY;
    int64_t storer = NOBODY;
    int64_t combiner = NOBODY;
    int64_t n_combined = 0;
    polytile_role role = POLYTILE_SUM; /* of the combiners */
    int operand = NO_ARRAY;            /* by which it is touched first */
    bool is_shared = false;            /* by another operand, too */
    bool is_written = false;
};

void note(int64_t &who, int64_t thread) {
    who = who == NOBODY || who == thread ? thread : static_cast<int64_t>(MANY);
}

bool is_other(int64_t who, int64_t thread) {
    return who != NOBODY && who != thread;
}

void read(Element &element, int64_t thread, Verdict &verdict) {
    verdict.is_conflict |= is_other(element.storer, thread) || is_other(element.combiner, thread);
    verdict.is_unclear |= element.combiner == thread;
    note(element.reader, thread);
}

void store(Element &element, int64_t thread, Verdict &verdict) {
    verdict.is_conflict |= is_other(element.storer, thread) || is_other(element.combiner, thread) ||
                           is_other(element.reader, thread);
    verdict.is_unclear |= element.combiner == thread;
    note(element.storer, thread);
}

void combine(Element &element, polytile_role role, int64_t thread, Verdict &verdict) {
    const bool has_other_role = element.combiner != NOBODY && element.role != role;
    verdict.is_conflict |= is_other(element.storer, thread) || is_other(element.reader, thread) ||
                           (has_other_role && is_other(element.combiner, thread));
    verdict.is_unclear |= element.storer == thread || element.reader == thread || has_other_role;
    note(element.combiner, thread);
    element.n_combined++;
    element.role = role;
}

void touch(Element &element, polytile_role role, int64_t thread, Verdict &verdict) {
    if (is_reading(role))
        read(element, thread, verdict);
    if (is_storing(role))
        store(element, thread, verdict);
    if (is_reducing(role))
        combine(element, role, thread, verdict);
}

/** An element that is touched by two names may only be read. */
void note_operand(Element &element, int operand, polytile_role role, Verdict &verdict) {
    element.is_shared |= element.operand != NO_ARRAY && element.operand != operand;
    element.is_written |= role != POLYTILE_IN;
    element.operand = operand;
    verdict.is_conflict |= element.is_shared && element.is_written;
}

/** The first operand for which the array of another one stands, too. */
size_t first_alias(const std::vector<int> *arrays, size_t operand) {
    for (size_t k = 0; arrays && k < operand; k++)
        if ((*arrays)[k] == (*arrays)[operand] && (*arrays)[k] != NO_ARRAY)
            return k;
    return operand;
}

bool is_reduced(const Kernel &kernel, size_t operand) {
    return std::any_of(kernel.accesses.begin(), kernel.accesses.end(), [&](const Access &access) {
        return access.operand == static_cast<int>(operand) && is_reducing(access.role);
    });
}

/** Whether an array is reduced by one name, and has another. */
bool is_mixed_by_names(const Kernel &kernel, const std::vector<int> *arrays) {
    for (size_t k = 0; k < kernel.operands.size(); k++) {
        const size_t first = first_alias(arrays, k);
        if (first != k && (is_reduced(kernel, k) || is_reduced(kernel, first)))
            return true;
    }
    return false;
}

/** Find a section that has elements, none of them in its array. */
void check_overlap(const Kernel &kernel, const Access &access, const Values &values,
                   const int64_t *thread, Verdict &verdict) {
    const Box &box = kernel.operands[static_cast<size_t>(access.operand)].box;
    bool misses = false, is_around = true, is_empty = false, is_wrong = false;
    for (size_t d = 0; d < box.size(); d++) {
        const Progression along = clip(kernel, access.subscripts[d], box[d], values, thread);
        is_empty |= along.is_empty;
        is_wrong |= along.is_wrong;
        misses |= along.n == 0;
        is_around &= along.n > 0 || along.is_around;
        verdict.is_beside |= along.is_open;
    }
    is_around |= access.is_relation;
    const bool is_looked_up =
        std::any_of(access.subscripts.begin(), access.subscripts.end(), has_look_up);
    verdict.is_beside |= (misses && is_around && !is_empty) || (is_wrong && is_empty) ||
                         (misses && is_empty && is_looked_up);
    verdict.is_outside |= !is_empty && ((misses && !is_around) || is_wrong);
}

/** Whether an operand has a reducing role and another one. */
bool is_mixed(const Kernel &kernel) {
    for (const Access &a : kernel.accesses)
        for (const Access &b : kernel.accesses)
            if (a.operand == b.operand && is_reducing(a.role) &&
                (a.role != b.role || a.is_fresh != b.is_fresh))
                return true;
    return false;
}

/** The box around all that one thread touches of each operand. */
class Hulls {
  public:
    explicit Hulls(size_t n) : hulls(n) {}

    void add(size_t operand, const int64_t *index, size_t n_dims) {
        Box &hull = hulls[operand];
        const bool is_new = hull.empty();
        hull.resize(n_dims);
        for (size_t d = 0; d < n_dims; d++) {
            hull[d].lo = is_new ? index[d] : std::min(hull[d].lo, index[d]);
            hull[d].hi = is_new ? index[d] : std::max(hull[d].hi, index[d]);
        }
    }

    int64_t bytes(const Kernel &kernel) const {
        int64_t sum = 0;
        for (size_t k = 0; k < hulls.size(); k++)
            if (!hulls[k].empty())
                sum += count(hulls[k]) * type_bytes(kernel.operands[k].type);
        return sum;
    }

  private:
    std::vector<Box> hulls;
};

int64_t touched_bytes(const std::vector<Element> &elements, polytile_type type) {
    return type_bytes(type) *
           std::count_if(elements.begin(), elements.end(), [](const Element &element) {
               return element.reader != NOBODY || element.storer != NOBODY ||
                      element.combiner != NOBODY;
           });
}

/** Whether more threads add to an element than a sum of its type is exact for. */
bool may_round(const std::vector<Element> &elements, polytile_type type) {
    return is_narrow(type) &&
           std::any_of(elements.begin(), elements.end(), [](const Element &element) {
               return element.role == POLYTILE_SUM && element.n_combined > MOST_NARROW_SUMMANDS;
           });
}

bool is_unsuited(const Kernel &kernel) {
    return std::any_of(kernel.accesses.begin(), kernel.accesses.end(), [&](const Access &access) {
        return !suits(access.role, kernel.operands[static_cast<size_t>(access.operand)].type);
    });
}

/** What a subscript's end adds: the element, 0 if it lies outside of its array. */
int64_t look_up(const Kernel &kernel, const LookUp &from, const Values &values,
                const int64_t *thread, bool &is_wrong);

/** Call visit(index) for each element of an index array's section, in C order. */
template <class Visit>
void for_each_index(const Kernel &kernel, const LookUp &from, const Values &values,
                    const int64_t *thread, Visit visit) {
    Access access;
    access.operand = from.operand;
    access.subscripts = from.subscripts;
    for_each_element(kernel, access, values, thread, visit);
}

int64_t look_up(const Kernel &kernel, const LookUp &from, const Values &values,
                const int64_t *thread, bool &is_wrong) {
    int64_t value = 0;
    bool is_there = false;
    for_each_index(kernel, from, values, thread, [&](const int64_t *index) {
        value = values.look(from.operand, index);
        is_there = true;
    });
    is_wrong |= !is_there;
    return value;
}

/** Whether a section of an index array is wrong itself, or lies outside of it. */
bool is_wrong_itself(const Kernel &kernel, const LookUp &from, const Values &values,
                     const int64_t *thread) {
    const Box &box = kernel.operands[static_cast<size_t>(from.operand)].box;
    bool is_wrong = false;
    for (size_t d = 0; d < box.size(); d++) {
        const Progression along = clip(kernel, from.subscripts[d], box[d], values, thread);
        is_wrong |= along.is_wrong || (along.n == 0 && !along.is_empty);
    }
    return is_wrong;
}

/** An element for each that is looked up; none may lie outside of the array. */
Progression gather(const Kernel &kernel, const Subscript &subscript, const Range &range,
                   const Values &values, const int64_t *thread) {
    Progression along;
    const LookUp &from = subscript.lo_of[0];
    const int64_t offset = evaluate(subscript.lo, values.subscripts, thread);
    along.is_wrong = is_wrong_itself(kernel, from, values, thread);
    for_each_index(kernel, from, values, thread, [&](const int64_t *index) {
        const int64_t at = values.look(from.operand, index) + offset;
        along.is_wrong |= at < range.lo || at > range.hi;
        along.gathered.push_back(at);
    });
    along.n = along.is_wrong ? 0 : static_cast<int64_t>(along.gathered.size());
    along.is_empty = !along.is_wrong && along.n == 0;
    return along;
}

/** Between two ends of which one or both are looked up: nothing is clipped. */
Progression between(const Range &range, int64_t lo, int64_t hi, bool is_wrong) {
    Progression along;
    along.lo = lo;
    along.is_empty = hi == lo - 1;
    along.is_open = along.is_empty && (lo < range.lo || lo > range.hi + 1);
    along.is_wrong =
        is_wrong || hi < lo - 1 || (!along.is_empty && (lo < range.lo || hi > range.hi));
    along.n = along.is_wrong ? 0 : hi - lo + 1;
    return along;
}

} // namespace

int64_t Progression::at(int64_t k) const {
    if (!gathered.empty())
        return gathered[static_cast<size_t>(k)];
    const int64_t index = lo + k * step, n_all = range.count();
    if (edge == POLYTILE_EDGE_CLAMP)
        return std::min(std::max(index, range.lo), range.hi);
    return edge == POLYTILE_EDGE_WRAP ? range.lo + ((index - range.lo) % n_all + n_all) % n_all
                                      : index;
}

static void visit_looked_up(const Kernel &kernel, const std::vector<Subscript> &subscripts,
                            const Values &values, const int64_t *thread,
                            const std::function<void(int, const int64_t *)> &visit) {
    for (const Subscript &subscript : subscripts)
        for (const auto *of : {&subscript.lo_of, &subscript.hi_of})
            for (const LookUp &from : *of) {
                visit_looked_up(kernel, from.subscripts, values, thread, visit);
                for_each_index(kernel, from, values, thread,
                               [&](const int64_t *index) { visit(from.operand, index); });
            }
}

void for_each_looked_up(const Kernel &kernel, const Access &access, const Values &values,
                        const int64_t *thread,
                        const std::function<void(int, const int64_t *)> &visit) {
    visit_looked_up(kernel, access.subscripts, values, thread, visit);
}

int64_t evaluate(const Affine &affine, const Integers &parameters, const int64_t *thread) {
    int64_t value = affine.constant;
    for (size_t k = 0; k < MAX_INDICES; k++)
        if (affine.index[k])
            value += affine.index[k] * thread[k];
    for (size_t k = 0; k < parameters.size(); k++)
        if (affine.parameter[k])
            value += affine.parameter[k] * parameters[k];
    return value;
}

Progression clip(const Kernel &kernel, const Subscript &subscript, const Range &range,
                 const Values &values, const int64_t *thread) {
    const Integers &parameters = values.subscripts;
    if (subscript.is_single && has_look_up(subscript))
        return gather(kernel, subscript, range, values, thread);
    bool is_wrong = false;
    int64_t lo = subscript.from_first ? range.lo : evaluate(subscript.lo, parameters, thread);
    int64_t hi = subscript.is_single ? lo
                 : subscript.to_last ? range.hi
                                     : evaluate(subscript.hi, parameters, thread);
    for (const LookUp &from : subscript.lo_of)
        lo += look_up(kernel, from, values, thread, is_wrong);
    for (const LookUp &from : subscript.hi_of)
        hi += look_up(kernel, from, values, thread, is_wrong);
    if (has_look_up(subscript))
        return between(range, lo, hi, is_wrong);
    Progression along;
    along.step = subscript.step;
    if (subscript.edge != POLYTILE_EDGE_CLIP) {
        along.lo = lo;
        along.edge = subscript.edge;
        along.range = range;
        along.is_empty = hi < lo;
        along.n = hi < lo ? 0 : (hi - lo) / along.step + 1;
        return along;
    }
    along.is_empty = hi < lo;
    along.is_around = lo <= range.hi && hi >= range.lo;
    along.lo = lo;
    if (lo < range.lo)
        along.lo = lo + (range.lo - lo + along.step - 1) / along.step * along.step;
    const int64_t last = std::min(hi, range.hi);
    along.n = last < along.lo ? 0 : (last - along.lo) / along.step + 1;
    return along;
}

bool is_aliased(const Kernel &kernel, const std::vector<int> &arrays) {
    for (size_t k = 0; k < arrays.size(); k++) {
        const size_t first = first_alias(&arrays, k);
        if (first != k && (is_written(kernel, static_cast<int>(k)) ||
                           is_written(kernel, static_cast<int>(first))))
            return true;
    }
    return false;
}

Verdict judge(const Kernel &kernel, const Values &values, const Box &domain,
              const std::vector<int> *arrays) {
    Verdict verdict;
    std::vector<std::vector<Element>> elements;
    for (const Shape &shape : kernel.operands)
        elements.emplace_back(shape.is_scratch ? 0 : static_cast<size_t>(count(shape.box)));
    int64_t number = 0;
    const bool looks_up = has_look_ups(kernel);
    std::vector<int64_t> n_scratch(kernel.operands.size());
    for_each_thread(domain, [&](const int64_t *thread) {
        Hulls hulls(kernel.operands.size());
        if (verdict.n_touched > MAX_TOUCHED)
            return;
        for (const Access &access : kernel.accesses) {
            const Shape &shape = kernel.operands[static_cast<size_t>(access.operand)];
            auto &of_array = elements[first_alias(arrays, static_cast<size_t>(access.operand))];
            check_overlap(kernel, access, values, thread, verdict);
            if (looks_up)
                for_each_looked_up(
                    kernel, access, values, thread, [&](int operand, const int64_t *index) {
                        const auto k = static_cast<size_t>(operand);
                        const Box &box = kernel.operands[k].box;
                        Element &element = elements[first_alias(arrays, k)]
                                                   [static_cast<size_t>(position(box, index))];
                        touch(element, POLYTILE_IN, number, verdict);
                        note_operand(element, operand, POLYTILE_IN, verdict);
                        hulls.add(k, index, kernel.operands[k].box.size());
                    });
            for_each_element(kernel, access, values, thread, [&](const int64_t *index) {
                if (shape.is_scratch) {
                    n_scratch[static_cast<size_t>(access.operand)]++;
                } else {
                    Element &element = of_array[static_cast<size_t>(position(shape.box, index))];
                    touch(element, access.role, number, verdict);
                    note_operand(element, access.operand, access.role, verdict);
                }
                verdict.n_touched++;
                hulls.add(static_cast<size_t>(access.operand), index, shape.box.size());
            });
        }
        verdict.thread_bytes = std::max(verdict.thread_bytes, hulls.bytes(kernel));
        number++;
    });
    verdict.is_mixed = is_mixed(kernel) || is_mixed_by_names(kernel, arrays);
    verdict.is_unsuited = is_unsuited(kernel);
    verdict.is_unclear |= verdict.n_touched > MAX_TOUCHED;
    for (size_t k = 0; k < elements.size(); k++) {
        const Shape &shape = kernel.operands[k];
        verdict.is_unclear |= may_round(elements[k], shape.type);
        verdict.is_unclear |= shape.is_scratch && n_scratch[k] == 0;
        verdict.launch_bytes +=
            touched_bytes(elements[k], shape.type) + n_scratch[k] * type_bytes(shape.type);
    }
    return verdict;
}

} // namespace outside
