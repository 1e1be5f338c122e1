#include "outside/touch.h"

#include <algorithm>

namespace outside {

namespace {

enum { NOBODY = -1, MANY = -2 };

/** Who reads, stores to and combines into one element: a thread's number, nobody, or many. */
struct Element {
    int64_t reader = NOBODY;
    int64_t storer = NOBODY;
    int64_t combiner = NOBODY;
    polytile_role role = POLYTILE_SUM; /* of the combiners */
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

/** Find a section that has elements, none of them in its array. */
void check_overlap(const Kernel &kernel, const Access &access, const Values &values,
                   const int64_t *thread, Verdict &verdict) {
    const Box &box = kernel.operands[static_cast<size_t>(access.operand)].box;
    bool misses = false, is_around = true;
    for (size_t d = 0; d < box.size(); d++) {
        const Progression along = clip(access.subscripts[d], box[d], values.subscripts, thread);
        if (along.is_empty)
            return;
        misses |= along.n == 0;
        is_around &= along.n > 0 || along.is_around;
    }
    is_around |= access.is_relation;
    verdict.is_beside |= misses && is_around;
    verdict.is_outside |= misses && !is_around;
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

int64_t touched_bytes(const std::vector<Element> &elements, polytile_scalar type) {
    return type_bytes(type) *
           std::count_if(elements.begin(), elements.end(), [](const Element &element) {
               return element.reader != NOBODY || element.storer != NOBODY ||
                      element.combiner != NOBODY;
           });
}

} // namespace

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

Progression clip(const Subscript &subscript, const Range &range, const Integers &parameters,
                 const int64_t *thread) {
    const int64_t lo = subscript.from_first ? range.lo : evaluate(subscript.lo, parameters, thread);
    const int64_t hi = subscript.is_single ? lo
                       : subscript.to_last ? range.hi
                                           : evaluate(subscript.hi, parameters, thread);
    Progression along;
    along.step = subscript.step;
    along.is_empty = hi < lo;
    along.is_around = lo <= range.hi && hi >= range.lo;
    along.lo = lo;
    if (lo < range.lo)
        along.lo = lo + (range.lo - lo + along.step - 1) / along.step * along.step;
    const int64_t last = std::min(hi, range.hi);
    along.n = last < along.lo ? 0 : (last - along.lo) / along.step + 1;
    return along;
}

Verdict judge(const Kernel &kernel, const Values &values, const Box &domain) {
    Verdict verdict;
    std::vector<std::vector<Element>> elements;
    for (const Shape &shape : kernel.operands)
        elements.emplace_back(static_cast<size_t>(count(shape.box)));
    int64_t number = 0;
    for_each_thread(domain, [&](const int64_t *thread) {
        Hulls hulls(kernel.operands.size());
        if (verdict.n_touched > MAX_TOUCHED)
            return;
        for (const Access &access : kernel.accesses) {
            const Shape &shape = kernel.operands[static_cast<size_t>(access.operand)];
            auto &of_array = elements[static_cast<size_t>(access.operand)];
            check_overlap(kernel, access, values, thread, verdict);
            for_each_element(kernel, access, values, thread, [&](const int64_t *index) {
                touch(of_array[static_cast<size_t>(position(shape.box, index))], access.role,
                      number, verdict);
                verdict.n_touched++;
                hulls.add(static_cast<size_t>(access.operand), index, shape.box.size());
            });
        }
        verdict.thread_bytes = std::max(verdict.thread_bytes, hulls.bytes(kernel));
        number++;
    });
    verdict.is_mixed = is_mixed(kernel);
    verdict.is_unclear |= verdict.n_touched > MAX_TOUCHED;
    for (size_t k = 0; k < elements.size(); k++)
        verdict.launch_bytes += touched_bytes(elements[k], kernel.operands[k].type);
    return verdict;
}

} // namespace outside
