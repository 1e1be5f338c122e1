#include "distribute/members.h"

#include <set>
#include <tuple>

namespace {

uint64_t mix(uint64_t hash, uint64_t value) {
    hash ^= value + 0x9e3779b97f4a7c15U + (hash << 6U) + (hash >> 2U);
    return hash * 0xff51afd7ed558ccdU;
}

/** One thread's elements of a section inside the array. */
polytile_domain touched(const pti_section &section, const Point &thread,
                        const polytile_domain &array) {
    polytile_domain box = section_of_thread(section, thread), inside;
    pti_box_intersect(&box, &array, &inside);
    return inside;
}

std::string name_of(const Point &point) {
    std::string text = "[";
    for (size_t d = 0; d < point.size(); d++)
        text += (d ? ", " : "") + std::to_string(point[d]);
    return text + "]";
}

/** What a thread makes of all that it reads; *error says of what it should not have read. */
uint64_t read_all(const pti_shared_launch &launch, const Point &thread, const Fields &fields,
                  const Fields &expected, std::string *error) {
    const pti_instance &instance = *launch.call.instance;
    uint64_t hash = 0;
    for (int64_t x : thread)
        hash = mix(hash, static_cast<uint64_t>(x));
    for (int s = 0; s < instance.n_sections; s++) {
        const pti_section &section = instance.section[s];
        if (section.role != POLYTILE_IN && section.role != POLYTILE_INOUT)
            continue;
        const size_t array = static_cast<size_t>(launch.call.array[section.operand]);
        for_each_point(touched(section, thread, fields[array].domain), [&](const Point &element) {
            const size_t at = fields[array].offset(element);
            if (fields[array].version[at] != expected[array].version[at])
                *error = "thread " + name_of(thread) + " reads " + name_of(element) + " of array " +
                         std::to_string(array) + " in version " +
                         std::to_string(fields[array].version[at]) + " of " +
                         std::to_string(expected[array].version[at]);
            hash = mix(hash, fields[array].value[at]);
        });
    }
    return hash;
}

/** Write a thread's result: at once, or what is reduced to *reduced. Reads come before it. */
void write_all(const pti_shared_launch &launch, const Point &thread, uint64_t hash, int64_t number,
               Fields *fields, Reduced *reduced) {
    const pti_instance &instance = *launch.call.instance;
    for (int s = 0; s < instance.n_sections; s++) {
        const pti_section &section = instance.section[s];
        if (section.role == POLYTILE_IN)
            continue;
        const size_t array = static_cast<size_t>(launch.call.array[section.operand]);
        Field &field = (*fields)[array];
        for_each_point(touched(section, thread, field.domain), [&](const Point &element) {
            const size_t at = field.offset(element);
            if (section.role > POLYTILE_INOUT) {
                reduced->n_threads[array][at]++;
                reduced->sum[array][at] += mix(hash, at);
            } else {
                field.value[at] = mix(hash, at);
                field.version[at] = number;
            }
        });
    }
}

std::string run_threads(const pti_shared_launch &launch, const pti_boxes &threads, int64_t number,
                        const Fields &expected, Fields *fields, Reduced *reduced) {
    std::string error;
    for (int b = 0; b < threads.n_boxes; b++)
        for_each_point(threads.box[b], [&](const Point &thread) {
            const uint64_t hash = read_all(launch, thread, *fields, expected, &error);
            write_all(launch, thread, hash, number, fields, reduced);
        });
    return error;
}

/** Bring what threads reduced to one operand's elements; those that miss a thread's are out of
 * date.
 */
void reduce(const pti_shared_launch &launch, int operand, int64_t number, const Reduced &reduced,
            const Reduced &total, const Fields &before, Fields *fields) {
    const pti_operand &of = launch.call.instance->operand[operand];
    const size_t array = static_cast<size_t>(launch.call.array[operand]);
    Field &field = (*fields)[array];
    for (size_t at = 0; of.reduces && at < field.size(); at++) {
        if (reduced.n_threads[array][at] == 0)
            continue;
        const bool is_whole = reduced.n_threads[array][at] == total.n_threads[array][at] &&
                              (of.fresh || field.version[at] == before[array].version[at]);
        field.value[at] = (of.fresh ? 0 : field.value[at]) + reduced.sum[array][at];
        field.version[at] = is_whole ? number : int64_t{OUT_OF_DATE};
    }
}

Field new_field(const polytile_domain &domain) {
    const size_t n = static_cast<size_t>(pti_box_count(&domain));
    Field field = {domain, std::vector<uint64_t>(n), std::vector<int64_t>(n, 0)};
    for (size_t at = 0; at < n; at++)
        field.value[at] = mix(n, at);
    return field;
}

/** Some of an exchange's transfers as text: all that one member sends or receives, or of all. */
std::string text_of(const pti_exchange &exchange, int member) {
    std::string text;
    for (int t = 0; t < exchange.n_transfers; t++) {
        const pti_transfer &transfer = exchange.transfer[t];
        if (member >= 0 && transfer.from != member && transfer.to != member)
            continue;
        text += std::to_string(transfer.array) + ": " + std::to_string(transfer.from) + " -> " +
                std::to_string(transfer.to);
        for (int b = 0; b < transfer.boxes.n_boxes; b++)
            text += " " + text_of(transfer.boxes.box[b]);
        text += "\n";
    }
    return text;
}

} // namespace

size_t Field::offset(const Point &point) const {
    int64_t at = 0;
    for (int d = 0; d < domain.n_dims; d++)
        at = at * (domain.range[d].hi - domain.range[d].lo + 1) + point[static_cast<size_t>(d)] -
             domain.range[d].lo;
    return static_cast<size_t>(at);
}

Reduced::Reduced(const Fields &fields) {
    for (const Field &field : fields) {
        n_threads.emplace_back(field.size(), 0);
        sum.emplace_back(field.size(), 0);
    }
}

Members::Members(const std::vector<pti_ownership> &ownerships, int n_members)
    : ownerships_(ownerships), n_members_(n_members) {
    const int n_arrays = static_cast<int>(ownerships.size());
    pti_copies_create(n_arrays, n_members, &copies_);
    pti_copies_create(n_arrays, n_members, &copies_of_one_);
    for (const pti_ownership &ownership : ownerships)
        alone_.push_back(new_field(ownership.domain));
    fields_.assign(static_cast<size_t>(n_members), alone_);
    for (int q = 0; q < n_members; q++)
        for (size_t a = 0; a < alone_.size(); a++) {
            Field &field = fields_[static_cast<size_t>(q)][a];
            pti_boxes owned = {};
            pti_ownership_boxes(&ownerships[a], q, &owned);
            field.version.assign(field.size(), OUT_OF_DATE);
            field.value.assign(field.size(), 0xdeadU);
            for (int b = 0; b < owned.n_boxes; b++)
                for_each_point(owned.box[b], [&](const Point &element) {
                    const size_t at = field.offset(element);
                    field.version[at] = 0;
                    field.value[at] = alone_[a].value[at];
                });
            pti_boxes_free(&owned);
        }
}

Members::~Members() {
    pti_copies_free(&copies_);
    pti_copies_free(&copies_of_one_);
}

std::string Members::run(const std::vector<pti_shared_launch> &launches) {
    pti_superstep superstep = {};
    superstep.n_launches = static_cast<int>(launches.size());
    superstep.launch = launches.data();
    superstep.n_arrays = static_cast<int>(ownerships_.size());
    superstep.ownerships = ownerships_.data();
    superstep.n_members = n_members_;
    std::string error = exchange(superstep, true);
    std::vector<Fields> expected = {alone_};
    std::vector<Reduced> totals;
    for (int l = 0; l < superstep.n_launches; l++) {
        pti_boxes all = {};
        pti_boxes_append(&all, &launches[static_cast<size_t>(l)].call.instance->threads);
        Fields next = expected.back();
        totals.emplace_back(next);
        run_threads(launches[static_cast<size_t>(l)], all, n_run_ + l + 1, expected.back(), &next,
                    &totals.back());
        for (int p = 0; p < launches[static_cast<size_t>(l)].call.instance->n_operands; p++)
            reduce(launches[static_cast<size_t>(l)], p, n_run_ + l + 1, totals.back(),
                   totals.back(), expected.back(), &next);
        expected.push_back(next);
        pti_boxes_free(&all);
    }
    for (int q = 0; q < n_members_ && error.empty(); q++)
        error = run_member(superstep, q, expected, totals);
    const pti_home last = pti_home_of(&launches.back(), ownerships_.data());
    n_run_ += superstep.n_launches;
    if (last.splits)
        combine(launches.back(), totals.back(), expected[launches.size() - 1]);
    alone_ = expected.back();
    if (error.empty())
        error = exchange(superstep, false);
    return error.empty() ? compare() : error;
}

/* What a launch that splits reduces on each member is put together in combine(). */
std::string Members::run_member(const pti_superstep &superstep, int member,
                                const std::vector<Fields> &expected,
                                const std::vector<Reduced> &totals) {
    pti_work work;
    std::string error;
    if (!pti_work_create(&superstep, member, &work))
        return "memory ran out";
    Fields &fields = fields_[static_cast<size_t>(member)];
    for (int l = 0; l < superstep.n_launches && error.empty(); l++) {
        const size_t at = static_cast<size_t>(l);
        Reduced reduced(fields);
        error = run_threads(superstep.launch[l], work.threads[l], n_run_ + l + 1, expected[at],
                            &fields, &reduced);
        for (int p = 0; p < superstep.launch[l].call.instance->n_operands; p++)
            if (!pti_home_combines(&work.home[l], &superstep.launch[l], superstep.ownerships, p))
                reduce(superstep.launch[l], p, n_run_ + l + 1, reduced, totals[at], expected[at],
                       &fields);
        if (!error.empty())
            error = "member " + std::to_string(member) + ", launch " + std::to_string(l) + " of " +
                    std::to_string(superstep.n_launches) + ": " + error;
    }
    n_extra_threads_ += work.n_extra_threads;
    pti_work_free(&work);
    return error;
}

/* Each thread counts once, whatever member ran it; everybody has what the elements held. */
void Members::combine(const pti_shared_launch &launch, const Reduced &total, const Fields &before) {
    pti_superstep superstep = {1, &launch, static_cast<int>(ownerships_.size()), ownerships_.data(),
                               n_members_};
    Reduced all(alone_);
    for (int q = 0; q < n_members_; q++) {
        pti_work work;
        std::string error;
        Fields scratch = before;
        pti_work_create(&superstep, q, &work);
        run_threads(launch, work.threads[0], n_run_, before, &scratch, &all);
        pti_work_free(&work);
    }
    const pti_home share = pti_home_of(&launch, ownerships_.data());
    for (Fields &fields : fields_)
        for (int p = 0; p < launch.call.instance->n_operands; p++)
            if (pti_home_combines(&share, &launch, ownerships_.data(), p))
                reduce(launch, p, n_run_, all, total, before, &fields);
}

std::string Members::exchange(const pti_superstep &superstep, bool before) {
    pti_exchange all = {}, of_one = {};
    const auto function = before ? pti_exchange_before : pti_exchange_after;
    const int member = static_cast<int>(n_run_ % n_members_);
    if (!function(&superstep, &copies_, 0, n_members_, &all) ||
        !function(&superstep, &copies_of_one_, member, 1, &of_one))
        return "memory ran out";
    std::string error = move(all);
    if (error.empty() && text_of(all, member) != text_of(of_one, -1))
        error = "member " + std::to_string(member) + " sees\n" + text_of(of_one, -1) +
                "and all see\n" + text_of(all, member);
    pti_exchange_free(&all);
    pti_exchange_free(&of_one);
    return error;
}

/* All elements leave before any arrives. */
std::string Members::move(const pti_exchange &exchange) {
    std::vector<std::tuple<size_t, size_t, size_t, uint64_t>> arriving;
    std::set<std::tuple<size_t, size_t, size_t>> known;
    std::string error;
    for (int t = 0; t < exchange.n_transfers; t++) {
        const pti_transfer &transfer = exchange.transfer[t];
        const size_t array = static_cast<size_t>(transfer.array);
        const size_t to = static_cast<size_t>(transfer.to);
        const Field &from = fields_[static_cast<size_t>(transfer.from)][array];
        int64_t n = 0;
        for (int b = 0; b < transfer.boxes.n_boxes; b++)
            for_each_point(transfer.boxes.box[b], [&](const Point &element) {
                const size_t at = from.offset(element);
                if (from.version[at] != alone_[array].version[at])
                    error = "what is sent is out of date";
                if (!known.insert({to, array, at}).second)
                    error = "an element is sent twice";
                arriving.emplace_back(to, array, at, from.value[at]);
                n++;
            });
        if (n != transfer.n_elements || n == 0 || transfer.from == transfer.to)
            error = "a transfer of " + std::to_string(transfer.n_elements) + " elements has " +
                    std::to_string(n);
        n_moved_ += n;
    }
    for (const auto &[to, array, at, value] : arriving) {
        fields_[to][array].value[at] = value;
        fields_[to][array].version[at] = alone_[array].version[at];
    }
    return error.empty() ? error : error + "\n" + text_of(exchange, -1);
}

std::string Members::compare_boxes(const std::string &what, int array, int member,
                                   const pti_boxes &boxes) const {
    const Field &have = fields_[static_cast<size_t>(member)][static_cast<size_t>(array)];
    const Field &want = alone_[static_cast<size_t>(array)];
    std::string error;
    for (int b = 0; b < boxes.n_boxes; b++)
        for_each_point(boxes.box[b], [&](const Point &element) {
            const size_t at = have.offset(element);
            if (have.value[at] != want.value[at] || have.version[at] != want.version[at])
                error = what + " " + name_of(element) + " of array " + std::to_string(array) +
                        " of member " + std::to_string(member) + " is of version " +
                        std::to_string(have.version[at]) + ", not " +
                        std::to_string(want.version[at]);
        });
    return error;
}

/* Owners and copies have what one member alone has. */
std::string Members::compare() const {
    std::string error;
    for (int q = 0; q < n_members_ && error.empty(); q++)
        for (int a = 0; a < copies_.n_arrays && error.empty(); a++) {
            pti_boxes owned = {};
            pti_ownership_boxes(&ownerships_[static_cast<size_t>(a)], q, &owned);
            error = compare_boxes("owned", a, q, owned);
            pti_boxes_free(&owned);
            if (error.empty())
                error = compare_boxes("copy", a, q, *pti_copies_get(&copies_, a, q));
        }
    return error;
}
