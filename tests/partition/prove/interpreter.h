#ifndef POLYTILE_TESTS_PARTITION_PROVE_INTERPRETER_H
#define POLYTILE_TESTS_PARTITION_PROVE_INTERPRETER_H

#include "partition/prove/enumerate.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

/**
 * What a schedule does, byte by byte and thread by thread: the truth that the checker is compared
 * with, for small launches without partial operands. It knows no boxes and no clocks.
 */
class Interpreter {
  public:
    explicit Interpreter(const Handmade &made) : made_(made), kernels_(made.Kernels()) {}

    /** Whether the schedule computes the right thing however the streams interleave. */
    bool IsRight() {
        if (made_.limit_bytes > 0 && made_.arena_bytes > made_.limit_bytes)
            return false;
        OrderOperations();
        Begin();
        for (size_t i = 0; i < made_.ops.size() && !wrong_; i++)
            Do(static_cast<int64_t>(i));
        return !wrong_ && EveryThreadRanOnce() && HoldingsAreRight() && HostIsRight();
    }

  private:
    /** Of all elements of an array alike: zero, or from identity_of_sum on the identities. */
    static constexpr int64_t garbage = -1, zero = -2, identity_of_sum = -10;

    /** What a byte holds: a part of an element's value. Versions count from 0, what it was at
     * first; others are negative. */
    struct Value {
        int operand = -1;
        int64_t element = -1;
        int64_t version = garbage;
        int64_t part = -1;
        bool operator==(const Value &other) const {
            return operand == other.operand && element == other.element &&
                   version == other.version && part == other.part;
        }
    };

    using Byte = size_t; /* of all host arrays, one after the other, and then of the device */
    using Name = std::pair<int, int64_t>; /* operand, element */

    static int64_t Count(polytile_range range) { return (range.hi - range.lo) / range.step + 1; }

    static int64_t IdentityOf(polytile_role role) {
        return identity_of_sum - (static_cast<int64_t>(role) - POLYTILE_SUM);
    }

    static Value ValueOf(const Name &name, int64_t version, int64_t part) {
        return {name.first, version < 0 ? -1 : name.second, version, part};
    }

    const pti_operand &OperandOf(int o) const { return made_.operands[static_cast<size_t>(o)]; }

    const pti_placement &PlacementOf(int64_t p) const {
        return made_.placements[static_cast<size_t>(p)];
    }

    Name NameOf(int operand, const Element &element) const {
        const polytile_domain &domain = OperandOf(operand).domain;
        int64_t number = 0;
        for (int d = 0; d < domain.n_dims; d++)
            number = number * Count(domain.range[d]) + element[static_cast<size_t>(d)] -
                     domain.range[d].lo;
        return {operand, number};
    }

    /** Which operations are certainly done before each one. */
    void OrderOperations() {
        const size_t n = made_.ops.size();
        before_.assign(n, std::vector<bool>(n, false));
        for (size_t i = 0; i < n; i++) {
            for (size_t j = i; j-- > 0;)
                if (pti_op_stream(&made_.ops[j]) == pti_op_stream(&made_.ops[i])) {
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

    /** Every element of boxes of an array. */
    std::set<Name> NamesOf(int o, const std::vector<polytile_domain> &boxes) const {
        std::set<Name> names;
        for (const auto &box : boxes)
            ForEachElement(box, [&](const Element &element) { names.insert(NameOf(o, element)); });
        return names;
    }

    /** Memory of which nothing is known; what lies outside the device's stands at its start. */
    void MakeMemory() {
        size_t n_bytes = 0;
        int64_t element_bytes = 0;
        for (const pti_operand &operand : made_.operands) {
            host_.push_back(n_bytes);
            n_bytes += static_cast<size_t>(pti_box_count(&operand.domain) * operand.element_bytes);
            element_bytes = std::max(element_bytes, operand.element_bytes);
        }
        device_ = n_bytes;
        n_bytes += static_cast<size_t>(made_.arena_bytes + element_bytes);
        memory_.resize(n_bytes);
        uses_.resize(n_bytes);
    }

    void Begin() {
        std::set<Name> dirty, unwritten;
        MakeMemory();
        for (size_t a = 0; a < made_.unwritten.size(); a++)
            unwritten.merge(NamesOf(static_cast<int>(a), made_.unwritten[a]));
        for (const auto &holding : made_.before)
            dirty.merge(NamesOf(PlacementOf(holding.placement).operand, holding.dirty));
        for (size_t o = 0; o < made_.operands.size(); o++)
            ForEachElement(made_.operands[o].domain, [&](const Element &element) {
                const Name name = NameOf(static_cast<int>(o), element);
                newest_[name] = unwritten.count(name) ? zero : 0;
                const bool is_on_host = !unwritten.count(name) && !dirty.count(name);
                host_lacks_[name] = dirty.count(name) > 0;
                for (int64_t part = 0; part < OperandOf(name.first).element_bytes; part++)
                    memory_[HostByte(name, part)] = ValueOf(name, is_on_host ? 0 : garbage, part);
            });
        CheckHoldings(made_.before);
        for (const auto &holding : made_.before)
            PutThere(holding, unwritten);
    }

    void PutThere(const HandHolding &holding, const std::set<Name> &unwritten) {
        const int o = PlacementOf(holding.placement).operand;
        for (const auto &box : holding.valid)
            ForEachElement(box, [&](const Element &element) {
                const Name name = NameOf(o, element);
                wrong_ |= unwritten.count(name) > 0;
                const Byte first = Address(holding.placement, element);
                for (int64_t part = 0; part < OperandOf(o).element_bytes && !wrong_; part++)
                    memory_[first + static_cast<size_t>(part)] = ValueOf(name, 0, part);
            });
    }

    /** Holdings lie in different bytes, and what is dirty is valid. */
    void CheckHoldings(const std::vector<HandHolding> &holdings) {
        for (const auto &holding : holdings) {
            const pti_placement &placement = PlacementOf(holding.placement);
            for (const auto &other : holdings) {
                const pti_placement &its = PlacementOf(other.placement);
                wrong_ |= &other != &holding &&
                          placement.offset_bytes < its.offset_bytes + its.layout.size_bytes &&
                          its.offset_bytes < placement.offset_bytes + placement.layout.size_bytes;
            }
            const std::set<Name> valid = NamesOf(placement.operand, holding.valid);
            for (const Name &name : NamesOf(placement.operand, holding.dirty))
                wrong_ |= valid.count(name) == 0;
        }
    }

    /** The first byte of an element on the device, or where it computes in place, on the host. */
    Byte Address(int64_t p, const Element &element) {
        const pti_placement &placement = PlacementOf(p);
        const pti_operand &operand = OperandOf(placement.operand);
        if (made_.in_place)
            return HostByte(NameOf(placement.operand, element), 0);
        int64_t at = placement.offset_bytes;
        for (int d = 0; d < placement.layout.hull.n_dims; d++) {
            const polytile_range range = placement.layout.hull.range[d];
            const int64_t x = element[static_cast<size_t>(d)];
            wrong_ |= x < range.lo || x > range.hi || (x - range.lo) % range.step != 0;
            at += static_cast<int64_t>(static_cast<uint64_t>(x - range.lo) *
                                       static_cast<uint64_t>(placement.layout.stride_bytes[d]));
        }
        const bool is_outside = at < 0 || at + operand.element_bytes > made_.arena_bytes;
        wrong_ |= is_outside;
        return device_ + static_cast<size_t>(is_outside ? 0 : at);
    }

    Byte HostByte(const Name &name, int64_t part) const {
        return host_[static_cast<size_t>(name.first)] +
               static_cast<size_t>(name.second * OperandOf(name.first).element_bytes + part);
    }

    /** Note the use of a byte; it is wrong if another operation may use it at the same time. */
    void Use(int64_t i, Byte byte, bool writes) {
        std::vector<std::pair<int64_t, bool>> &uses = uses_[byte];
        for (const auto &[other, other_writes] : uses)
            if (other != i && (writes || other_writes) &&
                !before_[static_cast<size_t>(i)][static_cast<size_t>(other)])
                wrong_ = true;
        if (std::find(uses.begin(), uses.end(), std::pair(i, writes)) == uses.end())
            uses.emplace_back(i, writes);
    }

    Value Load(int64_t i, Byte first, int64_t part) {
        const Byte byte = first + static_cast<size_t>(part);
        Use(i, byte, false);
        return memory_[byte];
    }

    void Store(int64_t i, Byte first, int64_t part, const Value &value) {
        const Byte byte = first + static_cast<size_t>(part);
        Use(i, byte, true);
        memory_[byte] = value;
    }

    void Do(int64_t i) {
        const pti_op &op = made_.ops[static_cast<size_t>(i)];
        if (op.kind == PTI_LAUNCH) {
            ForEachElement(op.box, [&](const Element &thread) { Run(i, thread, false); });
            ForEachElement(op.box, [&](const Element &thread) { Run(i, thread, true); });
            return;
        }
        const int o = PlacementOf(op.placement).operand;
        std::vector<std::tuple<Byte, int64_t, Value>> moved;
        ForEachElement(op.box, [&](const Element &element) {
            const Byte there = Address(op.placement, element);
            const Name name = NameOf(o, element);
            const int64_t filled = op.kind == PTI_FILL ? Fill(op, name) : 0;
            for (int64_t part = 0; part < OperandOf(o).element_bytes && !wrong_; part++) {
                if (op.kind == PTI_UPLOAD)
                    moved.emplace_back(there, part, Load(i, HostByte(name, 0), part));
                if (op.kind == PTI_COPY)
                    moved.emplace_back(there, part,
                                       Load(i, Address(op.source_placement, element), part));
                if (op.kind == PTI_FILL)
                    moved.emplace_back(there, part, ValueOf(name, filled, part));
                if (op.kind == PTI_DOWNLOAD)
                    moved.emplace_back(HostByte(name, 0), part, Load(i, there, part));
            }
        });
        for (const auto &[byte, part, value] : moved)
            Store(i, byte, part, value);
    }

    /** What a fill writes: an identity if the launch starts from one, else zero, which then counts
     * as written if nothing was. */
    int64_t Fill(const pti_op &op, const Name &name) {
        const HandKernel &kernel = kernels_[static_cast<size_t>(op.launch)];
        for (size_t k = 0; k < kernel.operands.size(); k++)
            if (kernel.operands[k].fresh && kernel.arrays[k] == name.first)
                return IdentityOf(kernel.operands[k].reduction);
        host_lacks_[name] = host_lacks_[name] || newest_[name] == zero;
        return zero;
    }

    /** The placement that an operand of a superblock's launch uses; -1 if none is listed. */
    int64_t UsedBy(const pti_op &op, const HandKernel &kernel, int operand) const {
        const int64_t n = static_cast<int64_t>(kernel.operands.size());
        const int64_t at = made_.FirstPlacement(static_cast<size_t>(op.launch)) +
                           (op.superblock - kernel.first_superblock) * n + operand;
        return at < 0 || at >= static_cast<int64_t>(made_.launch_placements.size())
                   ? -1
                   : made_.launch_placements[static_cast<size_t>(at)];
    }

    /** One thread reads its sections, or writes them. */
    void Run(int64_t i, const Element &thread, bool writing) {
        const pti_op &op = made_.ops[static_cast<size_t>(i)];
        const HandKernel &kernel = kernels_[static_cast<size_t>(op.launch)];
        if (writing)
            runs_[op.launch][thread]++;
        for (const pti_section &section : kernel.sections) {
            if (writing ? section.role == POLYTILE_IN : section.role == POLYTILE_OUT)
                continue;
            const int o = kernel.arrays[static_cast<size_t>(section.operand)];
            const int64_t p = UsedBy(op, kernel, section.operand);
            ForEachTouched(section, OperandOf(o).domain, thread, [&](const Element &element) {
                Touch(i, section, o, p, element, writing);
            });
        }
    }

    /** Threads run at once, so that no two elements of a launch may begin at one byte. */
    void Touch(int64_t i, const pti_section &section, int o, int64_t p, const Element &element,
               bool writing) {
        wrong_ |= p < 0;
        if (wrong_)
            return;
        const Name name = NameOf(o, element);
        const Byte byte = Address(p, element);
        wrong_ |= touched_.insert({{i, byte}, name}).first->second != name && !made_.in_place;
        KeepOrder(made_.ops[static_cast<size_t>(i)].launch, name, section.role != POLYTILE_IN);
        if (writing && written_.insert({i, name}).second)
            Renew(i, name);
        for (int64_t part = 0; part < OperandOf(o).element_bytes && !wrong_; part++) {
            if (writing)
                Store(i, byte, part, ValueOf(name, newest_[name], part));
            else
                wrong_ |= !(Load(i, byte, part) == ValueOf(name, Expected(i, section, name), part));
        }
    }

    /** No later launch did anything before to an element that makes a difference. */
    void KeepOrder(int launch, const Name &name, bool writes) {
        const auto newest = newest_launch_.try_emplace({name, true}, -1).first;
        const auto reader = newest_launch_.try_emplace({name, false}, -1).first;
        wrong_ |= newest->second > launch || (writes && reader->second > launch);
        int &mine = (writes ? newest : reader)->second;
        mine = std::max(mine, launch);
    }

    void Renew(int64_t i, const Name &name) {
        newest_[name] = newest_[name] < 0 ? 1 : newest_[name] + 1;
        host_lacks_[name] = true;
        combined_.insert({made_.ops[static_cast<size_t>(i)].launch, name});
    }

    /** The version that a section reads: at the first touch of a launch it may be an identity. */
    int64_t Expected(int64_t i, const pti_section &section, const Name &name) const {
        const bool starts = !combined_.count({made_.ops[static_cast<size_t>(i)].launch, name});
        return section.fresh && starts ? IdentityOf(section.role) : newest_.at(name);
    }

    bool IsOnHost(const Name &name) const {
        for (int64_t part = 0; part < OperandOf(name.first).element_bytes; part++)
            if (!(memory_[HostByte(name, part)] == ValueOf(name, newest_.at(name), part)))
                return false;
        return true;
    }

    /** What is said to be there afterwards is, in its newest version; what is dirty is newer than
     * the host's. */
    bool HoldingsAreRight() {
        CheckHoldings(made_.after);
        for (const auto &holding : made_.after) {
            const int o = PlacementOf(holding.placement).operand;
            for (const auto &box : holding.valid)
                ForEachElement(box, [&](const Element &element) {
                    const Byte byte = Address(holding.placement, element);
                    const Name name = NameOf(o, element);
                    for (int64_t part = 0; part < OperandOf(o).element_bytes && !wrong_; part++)
                        wrong_ |= !(memory_[byte + static_cast<size_t>(part)] ==
                                    ValueOf(name, newest_[name], part));
                });
            for (const Name &name : NamesOf(o, holding.dirty)) {
                wrong_ |= !host_lacks_[name] || IsOnHost(name);
                kept_.insert(name);
            }
        }
        return !wrong_;
    }

    /** The host has the newest version of what was written and is not kept on the device, and all
     * else as it was; of what was dropped it may have anything. */
    bool HostIsRight() {
        for (const auto &[name, version] : newest_) {
            const bool nobody_wrote = version == zero && !host_lacks_[name];
            const bool matters = !nobody_wrote && !made_.dropped.count(name.first);
            if (matters && !kept_.count(name) && !IsOnHost(name))
                return false;
        }
        return true;
    }

    bool EveryThreadRanOnce() {
        bool once = true;
        for (size_t l = 0; l < kernels_.size() && kernels_[l].threads.n_dims > 0; l++) {
            std::map<Element, int> &runs = runs_[static_cast<int>(l)];
            size_t n_threads = 0;
            ForEachElement(kernels_[l].threads, [&](const Element &thread) {
                once &= runs[thread] == 1;
                n_threads++;
            });
            once &= runs.size() == n_threads;
        }
        return once;
    }

    const Handmade &made_;
    std::vector<HandKernel> kernels_;
    bool wrong_ = false;
    std::map<std::pair<Name, bool>, int> newest_launch_; /* that wrote an element, or read it */
    std::vector<std::vector<bool>> before_;
    std::vector<Byte> host_; /* the first of each array */
    Byte device_ = 0;
    std::vector<Value> memory_;
    std::map<Name, int64_t> newest_;
    std::map<Name, bool> host_lacks_; /* written since the host had it, downloads aside */
    std::set<Name> kept_;
    std::vector<std::vector<std::pair<int64_t, bool>>> uses_; /* by operations; writes or reads */
    std::set<std::pair<int64_t, Name>> written_;
    std::set<std::pair<int, Name>> combined_;
    std::map<std::pair<int64_t, Byte>, Name> touched_;
    std::map<int, std::map<Element, int>> runs_;
};

#endif
