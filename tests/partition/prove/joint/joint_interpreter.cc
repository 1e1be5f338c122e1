#include "partition/prove/joint/joint_interpreter.h"

#include <deque>

extern "C" {
#include "access/footprint/footprint.h"
}

uint64_t joint_mix(uint64_t hash, uint64_t value) {
    hash ^= value + 0x9e3779b97f4a7c15U + (hash << 6U) + (hash >> 2U);
    return hash * 0xff51afd7ed558ccdU;
}

/* Values. */

namespace {

size_t offset_in(const polytile_domain &domain, const Point &point) {
    int64_t at = 0;
    for (int d = 0; d < domain.n_dims; d++)
        at = at * (domain.range[d].hi - domain.range[d].lo + 1) + point[static_cast<size_t>(d)] -
             domain.range[d].lo;
    return static_cast<size_t>(at);
}

bool is_read(const pti_section &section) {
    return section.role == POLYTILE_IN || section.role == POLYTILE_INOUT;
}

bool is_written(const pti_section &section) {
    return section.role != POLYTILE_IN;
}

const pti_operand &operand_of(const pti_call &call, int array) {
    int o = 0;
    while (call.array[o] != array || !call.instance->operand[o].writes)
        o++;
    return call.instance->operand[o];
}

} // namespace

JointValues::JointValues(const pti_joint_schedule &schedule) {
    for (int a = 0; a < schedule.n_arrays; a++) {
        domains_.push_back(schedule.array[a].domain);
        std::vector<uint64_t> values(static_cast<size_t>(pti_box_count(&domains_.back())));
        for (size_t at = 0; at < values.size(); at++)
            values[at] = joint_mix(static_cast<uint64_t>(a) + 1, at);
        before_.push_back(values);
    }
    after_ = before_;
    for (int l = 0; l < schedule.n_launches; l++) {
        list_threads(schedule.launch[l]);
        run(schedule.launch[l], static_cast<size_t>(l));
    }
}

size_t JointValues::offset(int array, const Point &element) const {
    return offset_in(domains_[static_cast<size_t>(array)], element);
}

const JointThread &JointValues::thread(int launch, const Point &at) const {
    const size_t l = static_cast<size_t>(launch);
    return work_[l][offset_in(threads_[l], at)];
}

void JointValues::list_threads(const pti_call &call) {
    const pti_instance &instance = *call.instance;
    threads_.push_back(instance.threads);
    work_.emplace_back();
    for_each_point(instance.threads, [&](const Point &thread) {
        JointThread work = {};
        for (int64_t x : thread)
            work.seed = joint_mix(work.seed, static_cast<uint64_t>(x));
        for (int s = 0; s < instance.n_sections; s++) {
            const pti_section &section = instance.section[s];
            const int array = call.array[section.operand];
            polytile_domain box = section_of_thread(section, thread), inside;
            pti_box_intersect(&box, &domains_[static_cast<size_t>(array)], &inside);
            for_each_point(inside, [&](const Point &element) {
                const JointAccess access = {array, offset(array, element),
                                            section.role > POLYTILE_INOUT};
                if (is_read(section))
                    work.reads.push_back(access);
                if (is_written(section))
                    work.writes.push_back(access);
            });
        }
        work_.back().push_back(work);
    });
}

void JointValues::run(const pti_call &call, size_t launch) {
    std::vector<std::vector<uint64_t>> next = after_;
    for (int a = 0; a < static_cast<int>(next.size()); a++)
        for (const JointThread &thread : work_[launch])
            for (const JointAccess &access : thread.writes)
                if (access.array == a && access.reduces && operand_of(call, a).fresh)
                    next[static_cast<size_t>(a)][access.at] = 0;
    for (const JointThread &thread : work_[launch]) {
        uint64_t hash = thread.seed;
        for (const JointAccess &access : thread.reads)
            hash = joint_mix(hash, after_[static_cast<size_t>(access.array)][access.at]);
        for (const JointAccess &access : thread.writes) {
            uint64_t &value = next[static_cast<size_t>(access.array)][access.at];
            value =
                access.reduces ? value + joint_mix(hash, access.at) : joint_mix(hash, access.at);
        }
    }
    after_ = next;
}

/* Running. */

namespace {

/** What a device has of an array, or the threads of a member have reduced. */
struct Part {
    std::vector<char> has, dirty;
    std::vector<uint64_t> value;
};

/** Something that a member's device is to do; without an operation: it reads in host memory, after
 * a launch of before. */
struct Item {
    const pti_joint_op *op;
    int array;
    std::vector<size_t> elements;
    std::vector<uint64_t> expected;
};

struct Message {
    int from, to;
    std::vector<uint64_t> values;
};

enum { GARBAGE = 0xdead };

class Run {
  public:
    Run(const pti_joint_schedule &schedule, const JointValues &values, Random *random)
        : schedule_(schedule), values_(values), random_(random),
          next_(static_cast<size_t>(schedule.n_lists), 0),
          queue_(static_cast<size_t>(schedule.n_members)),
          in_place_(static_cast<size_t>(schedule.n_members)),
          early_(static_cast<int>(random->one_of({0, 0, 30, 60, 90}))),
          evicting_(static_cast<int>(random->one_of({0, 0, 20, 60}))) {
        const size_t n_cells =
            static_cast<size_t>(schedule.n_arrays) * static_cast<size_t>(schedule.n_members);
        device_.resize(n_cells);
        partial_.resize(n_cells);
        home_.resize(n_cells);
        for (int q = 0; q < schedule.n_members; q++)
            in_place_[static_cast<size_t>(q)] = !schedule.keeps[q] && random->chance(30);
        for (int a = 0; a < schedule.n_arrays; a++)
            begin_array(a);
    }

    bool is_right() {
        while (!is_wrong_ && has_more())
            if (!step())
                return false;
        return !is_wrong_ && ends_right();
    }

  private:
    size_t cell(int array, int member) const {
        return static_cast<size_t>(array) * static_cast<size_t>(schedule_.n_members) +
               static_cast<size_t>(member);
    }
    std::vector<uint64_t> &host(int array, int member) {
        return home_[cell(array, schedule_.memory[array * schedule_.n_members + member])];
    }
    const pti_joint_holding &before(int array, int member) const {
        return schedule_.before[cell(array, member)];
    }

    template <class Visit> void for_each(int array, const pti_boxes &boxes, Visit visit) const {
        for (int b = 0; b < boxes.n_boxes; b++)
            for_each_point(boxes.box[b],
                           [&](const Point &element) { visit(values_.offset(array, element)); });
    }

    std::vector<char> set_of(int array, const pti_boxes &boxes) const {
        std::vector<char> set(values_.size(array), 0);
        for_each(array, boxes, [&](size_t at) { set[at] = 1; });
        return set;
    }

    /** Host memory is old only where all that have the newest version may have it on their
     * devices. */
    void begin_array(int array) {
        const int n_members = schedule_.n_members;
        const size_t n = values_.size(array);
        std::vector<std::vector<char>> valid, loose, is_old(static_cast<size_t>(n_members));
        for (int q = 0; q < n_members; q++) {
            valid.push_back(set_of(array, before(array, q).valid));
            loose.push_back(set_of(array, before(array, q).loose));
            device_[cell(array, q)] = {std::vector<char>(n, 0), std::vector<char>(n, 0),
                                       std::vector<uint64_t>(n, GARBAGE)};
            partial_[cell(array, q)].value.assign(n, 0);
            home_[cell(array, q)].assign(n, GARBAGE);
        }
        const int old_percent = static_cast<int>(random_->one_of({0, 50, 100}));
        for (size_t at = 0; at < n; at++)
            for (int m = 0; m < n_members; m++)
                if (schedule_.memory[array * n_members + m] == m)
                    begin_element(array, at, m, random_->chance(old_percent), valid, loose);
        for (int q = 0; q < n_members; q++)
            begin_reading(array, q, loose[static_cast<size_t>(q)]);
    }

    void begin_element(int array, size_t at, int memory, bool is_old,
                       const std::vector<std::vector<char>> &valid,
                       const std::vector<std::vector<char>> &loose) {
        bool is_anywhere = false;
        for (int q = memory; q < schedule_.n_members; q++) {
            const size_t m = static_cast<size_t>(q);
            if (!pti_joint_shares(&schedule_, array, memory, q) || !valid[m][at])
                continue;
            is_anywhere = true;
            is_old &= loose[m][at] && !in_place_[m];
        }
        if (is_anywhere && !is_old)
            host(array, memory)[at] = values_.before(array, at);
        for (int q = memory; q < schedule_.n_members; q++) {
            const size_t m = static_cast<size_t>(q);
            Part &device = device_[cell(array, q)];
            if (!pti_joint_shares(&schedule_, array, memory, q) || in_place_[m])
                continue;
            device.has[at] = is_old ? valid[m][at] || random_->chance(50) : random_->chance(50);
            device.dirty[at] = device.has[at] && loose[m][at] && (is_old || random_->chance(50));
            device.value[at] = valid[m][at] ? values_.before(array, at) : uint64_t{GARBAGE};
        }
    }

    void begin_reading(int array, int member, const std::vector<char> &loose) {
        Item item = {nullptr, array, {}, {}};
        bool is_shared = false;
        for (int q = 0; q < schedule_.n_members; q++)
            is_shared |= q != member && pti_joint_shares(&schedule_, array, member, q);
        for_each(array, before(array, member).reading, [&](size_t at) {
            const uint64_t value = host(array, member)[at];
            if (is_shared ? value == values_.before(array, at)
                          : !loose[at] || !device_[cell(array, member)].dirty[at]) {
                item.elements.push_back(at);
                item.expected.push_back(value);
            }
        });
        if (!item.elements.empty() && random_->chance(60))
            queue_[static_cast<size_t>(member)].push_back(item);
    }

    /* Queues. */

    bool uses(const Item &item, int array) const {
        if (array < 0 || item.op == nullptr || item.op->kind != PTI_JOINT_RUN)
            return array < 0 || (item.op == nullptr ? item.array : item.op->array) == array;
        const pti_call &call = schedule_.launch[item.op->launch];
        for (int o = 0; o < call.instance->n_operands; o++)
            if (call.array[o] == array)
                return true;
        return false;
    }

    bool share_array(const Item &one, const Item &other) const {
        for (int a = 0; a < schedule_.n_arrays; a++)
            if (uses(one, a) && uses(other, a))
                return true;
        return false;
    }

    void run_at(int member, size_t k) {
        std::deque<Item> &queue = queue_[static_cast<size_t>(member)];
        const Item item = queue[k];
        queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(k));
        if (item.op == nullptr)
            read_late(member, item);
        else if (item.op->kind == PTI_JOINT_RUN)
            run_threads(member, *item.op);
        else
            use_device(member, *item.op);
    }

    /** All of a member that use an array, after what they need. */
    void run_needed(int member, int array) {
        std::deque<Item> &queue = queue_[static_cast<size_t>(member)];
        std::vector<char> is_needed(queue.size(), 0);
        for (size_t k = queue.size(); k-- > 0;) {
            is_needed[k] = uses(queue[k], array);
            for (size_t later = k + 1; later < queue.size(); later++)
                is_needed[k] |= is_needed[later] && share_array(queue[k], queue[later]);
        }
        for (size_t k = 0, n_run = 0; k < is_needed.size(); k++)
            if (is_needed[k])
                run_at(member, k - n_run++);
    }

    void run_any(int member) {
        std::deque<Item> &queue = queue_[static_cast<size_t>(member)];
        if (queue.empty())
            return;
        const size_t k =
            static_cast<size_t>(random_->number(0, static_cast<int64_t>(queue.size()) - 1));
        for (size_t earlier = 0; earlier < k; earlier++)
            if (share_array(queue[earlier], queue[k]))
                return;
        run_at(member, k);
    }

    void read_late(int member, const Item &item) {
        for (size_t k = 0; k < item.elements.size(); k++)
            is_wrong_ |= host(item.array, member)[item.elements[k]] != item.expected[k];
    }

    /* Devices. */

    uint64_t &element(int array, int member, size_t at) {
        Part &device = device_[cell(array, member)];
        if (in_place_[static_cast<size_t>(member)])
            return host(array, member)[at];
        if (!device.has[at]) {
            device.has[at] = 1;
            device.dirty[at] = 0;
            device.value[at] = host(array, member)[at];
        }
        return device.value[at];
    }

    void note_dirty(int array, int member, size_t at) {
        device_[cell(array, member)].dirty[at] = !in_place_[static_cast<size_t>(member)];
    }

    /** Whether a process combines a launch's results in an array. */
    bool combines(int member, int launch, int array) const {
        for (int k = 0; k < schedule_.n_lists; k++)
            for (int o = 0; o < schedule_.list[k].n_ops; o++) {
                const pti_joint_op &op = schedule_.list[k].op[o];
                if (pti_joint_is_local(&schedule_.list[k], member) &&
                    op.kind == PTI_JOINT_COMBINE && op.launch == launch && op.array == array)
                    return true;
            }
        return false;
    }

    void run_threads(int member, const pti_joint_op &op) {
        const pti_call &call = schedule_.launch[op.launch];
        std::vector<char> into_partial;
        for (int a = 0; a < schedule_.n_arrays; a++)
            into_partial.push_back(combines(member, op.launch, a));
        for (int b = 0; b < op.boxes.n_boxes; b++) {
            move_hulls(member, call, op.boxes.box[b], into_partial);
            begin_identities(member, op.launch, call, op.boxes.box[b], into_partial);
            for_each_point(op.boxes.box[b], [&](const Point &at) {
                run_thread(member, values_.thread(op.launch, at), into_partial);
            });
        }
    }

    /** Of partial operands all of the hull moves. */
    void move_hulls(int member, const pti_call &call, const polytile_domain &threads,
                    const std::vector<char> &into_partial) {
        for (int o = 0; o < call.instance->n_operands; o++) {
            const int array = call.array[o];
            if (!call.instance->operand[o].partial || into_partial[static_cast<size_t>(array)])
                continue;
            const polytile_domain hull =
                pti_footprint_hull(call.instance, o, PTI_TOUCHES, &threads);
            for_each_point(hull, [&](const Point &at) {
                element(array, member, values_.offset(array, at));
                note_dirty(array, member, values_.offset(array, at));
            });
        }
    }

    void begin_identities(int member, int launch, const pti_call &call,
                          const polytile_domain &threads, const std::vector<char> &into_partial) {
        for_each_point(threads, [&](const Point &at) {
            for (const JointAccess &access : values_.thread(launch, at).writes)
                if (access.reduces && !into_partial[static_cast<size_t>(access.array)] &&
                    operand_of(call, access.array).fresh)
                    element(access.array, member, access.at) = 0;
        });
    }

    void run_thread(int member, const JointThread &thread, const std::vector<char> &into_partial) {
        uint64_t hash = thread.seed;
        for (const JointAccess &access : thread.reads)
            hash = joint_mix(hash, element(access.array, member, access.at));
        for (const JointAccess &access : thread.writes) {
            const uint64_t made = joint_mix(hash, access.at);
            if (into_partial[static_cast<size_t>(access.array)]) {
                partial_[cell(access.array, member)].value[access.at] += made;
                continue;
            }
            uint64_t &value = element(access.array, member, access.at);
            value = access.reduces ? value + made : made;
            note_dirty(access.array, member, access.at);
        }
    }

    /** Of any device that has it newer than the host; of several, any one. */
    uint64_t newest_elsewhere(int array, int member, size_t at) {
        const int first = static_cast<int>(random_->number(0, schedule_.n_members - 1));
        for (int k = 0; k < schedule_.n_members; k++) {
            const int q = (first + k) % schedule_.n_members;
            const Part &device = device_[cell(array, q)];
            if (q != member && pti_joint_shares(&schedule_, array, member, q) && device.dirty[at])
                return device.value[at];
        }
        return host(array, member)[at];
    }

    void pull(int member, const pti_joint_op &op) {
        Part &device = device_[cell(op.array, member)];
        for_each(op.array, op.boxes, [&](size_t at) {
            device.has[at] = 1;
            device.dirty[at] = 0;
            device.value[at] = newest_elsewhere(op.array, member, at);
        });
    }

    void use_device(int member, const pti_joint_op &op) {
        if (op.kind == PTI_JOINT_PULL) {
            pull(member, op);
            return;
        }
        Part &device = device_[cell(op.array, member)];
        for_each(op.array, op.boxes, [&](size_t at) {
            if (op.kind == PTI_JOINT_FETCH && device.dirty[at])
                host(op.array, member)[at] = device.value[at];
            if (op.kind == PTI_JOINT_FORGET)
                device.has[at] = 0;
            device.dirty[at] = 0;
        });
    }

    void evict_some() {
        const int member = static_cast<int>(random_->number(0, schedule_.n_members - 1));
        const int array = static_cast<int>(random_->number(0, schedule_.n_arrays - 1));
        Part &device = device_[cell(array, member)];
        if (schedule_.keeps[member])
            return;
        const bool all = random_->chance(70);
        for (size_t at = 0; at < device.has.size(); at++) {
            if (!device.has[at] || !(all || random_->chance(50)))
                continue;
            if (device.dirty[at])
                host(array, member)[at] = device.value[at];
            device.has[at] = device.dirty[at] = 0;
        }
    }

    /* Processes. */

    const pti_joint_op *next_of(int list) const {
        const pti_joint_list &of = schedule_.list[list];
        const int k = next_[static_cast<size_t>(list)];
        return k < of.n_ops ? &of.op[k] : nullptr;
    }

    bool has_more() const {
        for (int k = 0; k < schedule_.n_lists; k++)
            if (next_of(k) != nullptr)
                return true;
        return false;
    }

    size_t find_message(int from, int to) const {
        size_t m = 0;
        while (m < messages_.size() && (messages_[m].from != from || messages_[m].to != to))
            m++;
        return m;
    }

    bool may_go_on(int list) const {
        const pti_joint_op *op = next_of(list);
        if (op == nullptr)
            return false;
        if (op->kind == PTI_JOINT_RECEIVE)
            return find_message(op->peer, op->member) < messages_.size();
        for (int k = 0; op->kind == PTI_JOINT_COMBINE && k < schedule_.n_lists; k++)
            if (next_of(k) == nullptr || next_of(k)->kind != PTI_JOINT_COMBINE)
                return false;
        return true;
    }

    /** False: nobody can go on. */
    bool step() {
        while (random_->chance(early_))
            run_any(static_cast<int>(random_->number(0, schedule_.n_members - 1)));
        while (random_->chance(evicting_))
            evict_some();
        const int first = static_cast<int>(random_->number(0, schedule_.n_lists - 1));
        for (int k = 0; k < schedule_.n_lists; k++) {
            const int list = (first + k) % schedule_.n_lists;
            if (!may_go_on(list))
                continue;
            if (next_of(list)->kind == PTI_JOINT_COMBINE)
                combine();
            else
                hand_out(list);
            return true;
        }
        return false;
    }

    void wait_for(int list) {
        const pti_joint_op &op = *next_of(list);
        for (int w = 0; w < op.n_waits; w++) {
            const pti_joint_wait &wait = schedule_.list[list].wait[op.first_wait + w];
            run_needed(wait.member, wait.array);
        }
    }

    void hand_out(int list) {
        wait_for(list);
        const pti_joint_op &op = *next_of(list);
        next_[static_cast<size_t>(list)]++;
        if (op.kind == PTI_JOINT_SEND)
            send(op);
        else if (op.kind == PTI_JOINT_RECEIVE)
            receive(op);
        else if (op.kind == PTI_JOINT_COPY)
            for_each(op.array, op.boxes, [&](size_t at) {
                host(op.array, op.member)[at] = host(op.array, op.peer)[at];
            });
        else if (op.kind != PTI_JOINT_WAIT)
            queue_[static_cast<size_t>(op.member)].push_back({&op, -1, {}, {}});
    }

    void send(const pti_joint_op &op) {
        Message message = {op.member, op.peer, {}};
        for_each(op.array, op.boxes,
                 [&](size_t at) { message.values.push_back(host(op.array, op.member)[at]); });
        messages_.push_back(message);
    }

    void receive(const pti_joint_op &op) {
        const size_t m = find_message(op.peer, op.member);
        const Message message = messages_[m];
        size_t k = 0;
        messages_.erase(messages_.begin() + static_cast<std::ptrdiff_t>(m));
        for_each(op.array, op.boxes, [&](size_t at) {
            host(op.array, op.member)[at] =
                k < message.values.size() ? message.values[k] : uint64_t{GARBAGE};
            k++;
        });
        is_wrong_ |= k != message.values.size();
    }

    void combine() {
        const pti_joint_op &op = *next_of(0);
        for (int k = 0; k < schedule_.n_lists; k++) {
            const pti_joint_op *other = next_of(k);
            is_wrong_ |= other->array != op.array || other->launch != op.launch ||
                         !pti_boxes_are_alike(&other->boxes, &op.boxes);
            wait_for(k);
        }
        for (int k = 0; k < schedule_.n_lists; k++)
            next_[static_cast<size_t>(k)]++;
        if (is_wrong_)
            return;
        const bool fresh = operand_of_launch(op).fresh;
        for_each(op.array, op.boxes, [&](size_t at) {
            uint64_t value = fresh ? 0 : host(op.array, 0)[at];
            for (int q = 0; q < schedule_.n_members; q++)
                value += partial_[cell(op.array, q)].value[at];
            for (int q = 0; q < schedule_.n_members; q++)
                host(op.array, q)[at] = value;
        });
    }

    const pti_operand &operand_of_launch(const pti_joint_op &op) {
        static const pti_operand none = {};
        const pti_call &call = schedule_.launch[op.launch];
        for (int o = 0; o < call.instance->n_operands; o++)
            if (call.array[o] == op.array && call.instance->operand[o].writes)
                return call.instance->operand[o];
        is_wrong_ = true;
        return none;
    }

    bool ends_right() {
        for (int q = 0; q < schedule_.n_members; q++)
            while (!queue_[static_cast<size_t>(q)].empty())
                run_at(q, 0);
        for (int k = 0; k < 4; k++)
            evict_some();
        is_wrong_ |= !messages_.empty();
        for (int a = 0; a < schedule_.n_arrays; a++)
            for (int q = 0; q < schedule_.n_members; q++)
                check_element(a, q);
        return !is_wrong_;
    }

    void check_element(int array, int member) {
        const pti_joint_holding &after = schedule_.after[cell(array, member)];
        const std::vector<char> loose = set_of(array, after.loose);
        const Part &device = device_[cell(array, member)];
        for_each(array, after.valid, [&](size_t at) {
            is_wrong_ |= element(array, member, at) != values_.after(array, at);
        });
        for (size_t at = 0; at < loose.size(); at++)
            is_wrong_ |= device.dirty[at] && !loose[at];
    }

    const pti_joint_schedule &schedule_;
    const JointValues &values_;
    Random *random_;
    std::vector<int> next_; /* of each list */
    std::vector<std::deque<Item>> queue_;
    std::vector<char> in_place_; /* members whose threads run on host memory */
    int early_, evicting_;       /* percent */
    std::vector<Part> device_, partial_;
    std::vector<std::vector<uint64_t>> home_;
    std::vector<Message> messages_;
    bool is_wrong_ = false;
};

} // namespace

bool runs_right(const pti_joint_schedule &schedule, const JointValues &values, Random *random) {
    return Run(schedule, values, random).is_right();
}
