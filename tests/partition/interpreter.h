#ifndef POLYTILE_TESTS_PARTITION_INTERPRETER_H
#define POLYTILE_TESTS_PARTITION_INTERPRETER_H

#include "partition/handmade.h"

#include <map>
#include <set>
#include <tuple>

/**
 * What a schedule does, byte by byte and thread by thread: the truth that the checker is compared
 * with, for small launches without partial operands. It knows no boxes and no clocks.
 */
class Interpreter {
  public:
    explicit Interpreter(const Handmade &made) : made_(made) {}

    /** Whether the schedule computes the right thing however the streams interleave. */
    bool IsRight() {
        if (made_.limit_bytes > 0 && made_.arena_bytes > made_.limit_bytes)
            return false;
        OrderOperations();
        for (size_t o = 0; o < made_.operands.size(); o++)
            BeginOperand(static_cast<int>(o));
        for (size_t i = 0; i < made_.ops.size(); i++) {
            Do(static_cast<int64_t>(i));
            if (wrong_)
                return false;
        }
        return HostIsRight() && EveryThreadRanOnce();
    }

  private:
    /** The version'th value of an element: byte part of it. -1 stands for what a fresh reduction's
     * array held before, 0 for its identity. */
    struct Value {
        int operand = -1;
        int64_t element = -1;
        int64_t version = -1;
        int64_t part = -1;
        bool operator==(const Value &other) const {
            return operand == other.operand && element == other.element &&
                   version == other.version && part == other.part;
        }
    };

    using Element = std::vector<int64_t>;

    static int64_t Count(polytile_range range) { return (range.hi - range.lo) / range.step + 1; }

    template <typename Visit> static void ForEach(const polytile_domain &box, Visit visit) {
        Element at(static_cast<size_t>(box.n_dims));
        Step(box, 0, at, visit);
    }

    template <typename Visit>
    static void Step(const polytile_domain &box, int d, Element &at, Visit &visit) {
        if (d == box.n_dims || d == POLYTILE_MAX_DIMS) {
            visit(at);
            return;
        }
        for (int64_t x = box.range[d].lo; x <= box.range[d].hi; x += box.range[d].step) {
            at[static_cast<size_t>(d)] = x;
            Step(box, d + 1, at, visit);
        }
    }

    static int64_t Evaluate(const pti_affine &affine, const Element &thread) {
        int64_t value = affine.constant;
        for (size_t k = 0; k < thread.size(); k++)
            value += affine.index[k] * thread[k];
        return value;
    }

    int64_t Number(int operand, const Element &element) const {
        const polytile_domain &domain = made_.operands[static_cast<size_t>(operand)].domain;
        int64_t number = 0;
        for (int d = 0; d < domain.n_dims; d++)
            number = number * Count(domain.range[d]) + element[static_cast<size_t>(d)] -
                     domain.range[d].lo;
        return number;
    }

    /** Which operations are certainly done before each one. */
    void OrderOperations() {
        const size_t n = made_.ops.size();
        before_.assign(n, std::vector<bool>(n, false));
        for (size_t i = 0; i < n; i++) {
            for (size_t j = i; j-- > 0;)
                if (pti_op_stream(made_.ops[j].kind) == pti_op_stream(made_.ops[i].kind)) {
                    Follow(i, j);
                    break;
                }
            for (int64_t w : made_.waits[i])
                Follow(i, static_cast<size_t>(w));
        }
    }

    void Follow(size_t i, size_t j) {
        before_[i][j] = true;
        for (size_t k = 0; k < j; k++)
            if (before_[j][k])
                before_[i][k] = true;
    }

    void BeginOperand(int o) {
        const pti_operand &operand = made_.operands[static_cast<size_t>(o)];
        ForEach(operand.domain, [&](const Element &element) {
            const int64_t number = Number(o, element);
            newest_[{o, number}] = 0;
            for (int64_t part = 0; part < operand.element_bytes; part++)
                memory_[{o, number * operand.element_bytes + part}] = {
                    o, number, operand.fresh ? -1 : 0, part};
        });
    }

    /** The first byte of an element on the device, or where it computes in place, on the host. */
    std::pair<int, int64_t> Address(int64_t p, const Element &element) {
        const pti_placement &placement = made_.placements[static_cast<size_t>(p)];
        const pti_operand &operand = made_.operands[static_cast<size_t>(placement.operand)];
        if (made_.in_place)
            return {placement.operand, Number(placement.operand, element) * operand.element_bytes};
        int64_t at = placement.offset_bytes;
        for (int d = 0; d < placement.layout.hull.n_dims; d++) {
            const polytile_range range = placement.layout.hull.range[d];
            const int64_t x = element[static_cast<size_t>(d)];
            wrong_ |= x < range.lo || x > range.hi || (x - range.lo) % range.step != 0;
            at += (x - range.lo) * placement.layout.stride_bytes[d];
        }
        wrong_ |= at < 0 || at + operand.element_bytes > made_.arena_bytes;
        return {device, at};
    }

    std::pair<int, int64_t> HostAddress(int o, const Element &element) const {
        return {o, Number(o, element) * made_.operands[static_cast<size_t>(o)].element_bytes};
    }

    /** Note the use of a byte; it is wrong if another operation may use it at the same time. */
    void Use(int64_t i, const std::pair<int, int64_t> &byte, bool writes) {
        for (const auto &[other, other_writes] : uses_[byte])
            if (other != i && (writes || other_writes) &&
                !before_[static_cast<size_t>(i)][static_cast<size_t>(other)])
                wrong_ = true;
        uses_[byte].insert({i, writes});
    }

    Value Load(int64_t i, std::pair<int, int64_t> byte, int64_t part) {
        byte.second += part;
        Use(i, byte, false);
        return memory_[byte];
    }

    void Store(int64_t i, std::pair<int, int64_t> byte, int64_t part, const Value &value) {
        byte.second += part;
        Use(i, byte, true);
        memory_[byte] = value;
    }

    void Do(int64_t i) {
        const pti_op &op = made_.ops[static_cast<size_t>(i)];
        if (op.kind == PTI_LAUNCH) {
            ForEach(op.box, [&](const Element &thread) { Run(i, thread, false); });
            ForEach(op.box, [&](const Element &thread) { Run(i, thread, true); });
            return;
        }
        const int o = made_.placements[static_cast<size_t>(op.placement)].operand;
        const int64_t element_bytes = made_.operands[static_cast<size_t>(o)].element_bytes;
        std::vector<std::tuple<std::pair<int, int64_t>, int64_t, Value>> moved;
        ForEach(op.box, [&](const Element &element) {
            const auto there = Address(op.placement, element);
            for (int64_t part = 0; part < element_bytes && !wrong_; part++) {
                if (op.kind == PTI_UPLOAD)
                    moved.emplace_back(there, part, Load(i, HostAddress(o, element), part));
                if (op.kind == PTI_COPY)
                    moved.emplace_back(there, part,
                                       Load(i, Address(op.source_placement, element), part));
                if (op.kind == PTI_FILL)
                    moved.emplace_back(there, part, Value{o, Number(o, element), 0, part});
                if (op.kind == PTI_DOWNLOAD)
                    moved.emplace_back(HostAddress(o, element), part, Load(i, there, part));
            }
        });
        for (const auto &[byte, part, value] : moved)
            Store(i, byte, part, value);
    }

    /** One thread reads its sections, or writes them. */
    void Run(int64_t i, const Element &thread, bool writing) {
        const int64_t superblock = made_.ops[static_cast<size_t>(i)].superblock;
        if (writing)
            runs_[thread]++;
        for (const pti_section &section : made_.sections) {
            if (writing ? section.role == POLYTILE_IN : section.role == POLYTILE_OUT)
                continue;
            const int64_t p =
                made_.launch_placements[static_cast<size_t>(superblock) * made_.operands.size() +
                                        static_cast<size_t>(section.operand)];
            polytile_domain touched = {};
            touched.n_dims = section.n_dims;
            for (int d = 0; d < section.n_dims; d++)
                touched.range[d] = {Evaluate(section.subscript[d].lo, thread),
                                    Evaluate(section.subscript[d].hi, thread),
                                    section.subscript[d].step};
            ForEach(touched,
                    [&](const Element &element) { Touch(i, section, p, element, writing); });
        }
    }

    /** Threads run at once, so that no two elements of a launch may begin at one byte. */
    void Touch(int64_t i, const pti_section &section, int64_t p, const Element &element,
               bool writing) {
        const int o = section.operand;
        const pti_operand &operand = made_.operands[static_cast<size_t>(o)];
        for (int d = 0; d < section.n_dims; d++)
            if (element[static_cast<size_t>(d)] < operand.domain.range[d].lo ||
                element[static_cast<size_t>(d)] > operand.domain.range[d].hi)
                return;
        wrong_ |= p < 0;
        if (wrong_)
            return;
        const int64_t number = Number(o, element);
        const auto byte = Address(p, element);
        wrong_ |= touched_.insert({{i, byte.second}, {o, number}}).first->second !=
                      std::pair<int, int64_t>{o, number} &&
                  !made_.in_place;
        const bool first = written_.insert({i, o, number}).second;
        if (writing && first)
            newest_[{o, number}]++;
        if (!writing)
            written_.erase({i, o, number});
        for (int64_t part = 0; part < operand.element_bytes && !wrong_; part++) {
            const Value value{o, number, newest_[{o, number}], part};
            if (writing)
                Store(i, byte, part, value);
            else
                wrong_ |= !(Load(i, byte, part) == value);
        }
    }

    /** The host has the newest version of what was written, and all else as it was. */
    bool HostIsRight() {
        for (const auto &[key, version] : newest_) {
            const pti_operand &operand = made_.operands[static_cast<size_t>(key.first)];
            const int64_t right = version == 0 && operand.fresh ? -1 : version;
            for (int64_t part = 0; part < operand.element_bytes; part++)
                if (!(memory_[{key.first, key.second * operand.element_bytes + part}] ==
                      Value{key.first, key.second, right, part}))
                    return false;
        }
        return true;
    }

    bool EveryThreadRanOnce() {
        bool once = true;
        size_t n_threads = 0;
        ForEach(made_.threads, [&](const Element &thread) {
            once &= runs_[thread] == 1;
            n_threads++;
        });
        return once && runs_.size() == n_threads;
    }

    static constexpr int device = -1;
    const Handmade &made_;
    bool wrong_ = false;
    std::vector<std::vector<bool>> before_;
    std::map<std::pair<int, int64_t>, Value> memory_; /* operand's host array or device, byte */
    std::map<std::pair<int, int64_t>, int64_t> newest_;
    std::map<std::pair<int, int64_t>, std::set<std::pair<int64_t, bool>>> uses_;
    std::set<std::tuple<int64_t, int, int64_t>> written_;
    std::map<std::pair<int64_t, int64_t>, std::pair<int, int64_t>> touched_;
    std::map<Element, int> runs_;
};

#endif
