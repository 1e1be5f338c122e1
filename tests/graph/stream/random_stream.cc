#include "graph/stream/random_stream.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace {

constexpr int max_delay = 3;

/** Frames that may be asked for: this one, those before, and what they are based on. */
constexpr size_t n_kept = 2 * max_delay + 2;

std::string join(const std::vector<int64_t> &numbers) {
    std::string text;
    for (const int64_t number : numbers)
        text += (text.empty() ? "" : "x") + std::to_string(number);
    return text;
}

const char *type_of(int64_t element_bytes) {
    return element_bytes == 1   ? "u8"
           : element_bytes == 2 ? "u16"
           : element_bytes == 4 ? "u32"
                                : "u64";
}

std::string text_of(const polytile_domain &domain) {
    std::string text;
    for (int d = 0; d < domain.n_dims; d++)
        text += (d == 0 ? "" : ",") + std::to_string(domain.range[d].lo) + ":" +
                std::to_string(domain.range[d].hi);
    return text;
}

/** A body that now and then takes its time, so that threads meet in other orders. */
struct Slow {
    polytile_implementation of;
    int64_t per_100;
};

void run_slowly(const polytile_domain *threads, const polytile_view *views, void *user) {
    const auto *slow = static_cast<const Slow *>(user);
    static thread_local std::minstd_rand draw{std::random_device{}()};
    if (static_cast<int64_t>(draw() % 100) < slow->per_100)
        std::this_thread::sleep_for(std::chrono::microseconds(draw() % 300));
    slow->of.host(threads, views, slow->of.user);
}

/** Kept for the whole process: implementations point to them. */
const Slow *keep(const polytile_implementation &of, int64_t per_100) {
    static std::deque<Slow> all;
    all.push_back({of, per_100});
    return &all.back();
}

} // namespace

RandomStream::RandomStream(Random *random, const std::vector<std::string> &units, bool splits,
                           bool asks_ends)
    : random_(random), units_(units), splits_(splits), asks_ends_(asks_ends),
      n_inputs_(static_cast<int>(random->number(1, 2))) {
    for (int64_t d = random->number(1, 2); d > 0; d--)
        extents_.push_back(splits ? random->one_of({2, 3, 5, 7, 11, 16})
                                  : random->one_of({1, 1, 2, 3, 4, 5, 7, 11}));
    for (int k = 0; k < n_inputs_; k++)
        add_array(extents_, random->one_of({1, 2, 4, 8}));
    const int n = static_cast<int>(random->number(1, 6));
    for (int a = 0; a < n; a++) {
        const int made = add_array(extents_, random->one_of({1, 2, 4, 8}));
        arrays_[at(made)].producer = a;
        arrays_[at(made)].delay =
            random->chance(splits ? 2 : 10) ? static_cast<int>(random->number(1, 2)) : 0;
    }
    for (int a = 0; a < n; a++)
        add_actor(a);
    for (int a = 0; a < n; a++)
        take_turns(a);
    for (int a = 0; a < n; a++)
        split(a);
    frames_.resize(arrays_.size());
    for (Array &array : arrays_)
        array.delay = array.is_read ? array.delay : 0;
}

int RandomStream::add_array(std::vector<int64_t> extents, int64_t element_bytes) {
    arrays_.push_back({std::move(extents), element_bytes});
    return static_cast<int>(arrays_.size()) - 1;
}

size_t RandomStream::n_bytes(int array) const {
    int64_t n = element_bytes(array);
    for (const int64_t extent : arrays_[at(array)].extents)
        n *= extent;
    return static_cast<size_t>(n);
}

GenericSection RandomStream::around(size_t n_dims, int64_t reach) const {
    GenericSection section;
    for (size_t d = 0; d < n_dims; d++)
        section.push_back({static_cast<int>(d), -reach, reach});
    return section;
}

/** An array that an actor may read, and how late: what is made after it only from a frame before.
 * like: of the same extents and elements; -1: any. */
int RandomStream::draw_source(int actor, int *delay, int like) {
    std::vector<int> list;
    const bool only_earlier = splits_ && like < 0 && random_->chance(95);
    for (int a = 0; a < static_cast<int>(arrays_.size()); a++) {
        const Array &of = arrays_[at(a)];
        if (only_earlier && of.producer >= actor)
            continue;
        if (like < 0 || (of.element_bytes == arrays_[at(like)].element_bytes &&
                         of.extents == arrays_[at(like)].extents))
            list.push_back(a);
    }
    const int source =
        list[static_cast<size_t>(random_->number(0, static_cast<int64_t>(list.size()) - 1))];
    const bool is_later = arrays_[at(source)].producer >= actor;
    *delay = is_later || random_->chance(splits_ ? 2 : 25)
                 ? static_cast<int>(random_->number(1, max_delay))
                 : 0;
    arrays_[at(source)].is_read = true;
    return source;
}

void RandomStream::finish_actor(Actor *actor, std::vector<GenericAccess> accesses) {
    actor->kernel =
        std::make_unique<GenericKernel>(static_cast<int>(extents_.size()), std::move(accesses));
    if (asks_ends_ && random_->chance(50))
        actor->kernel->mix_ends();
    actor->domain = actor->kernel->widest();
}

/** In and out change places, or one operand is both. */
void RandomStream::add_repeated(int number, Actor *actor) {
    const int out = n_inputs_ + number;
    Operand first, second;
    first.in = draw_source(number, &first.delay, out);
    actor->repeat = random_->number(2, 4);
    const Array &of = arrays_[at(out)];
    const GenericSection here = around(extents_.size(), 0);
    if (random_->chance(40)) {
        first.out = out;
        actor->operands = {first};
        return finish_actor(actor, {{POLYTILE_INOUT, false, of.extents, of.element_bytes, {here}}});
    }
    second.out = out;
    actor->operands = {first, second};
    const int64_t most = *std::min_element(extents_.begin(), extents_.end()) > 2 ? 1 : 0;
    finish_actor(actor, {{POLYTILE_IN,
                          false,
                          of.extents,
                          of.element_bytes,
                          {around(extents_.size(), random_->number(0, most))}},
                         {POLYTILE_OUT, false, of.extents, of.element_bytes, {here}}});
}

/** Sums and such along the last index, from an identity or onto what was there. */
void RandomStream::add_reduction(int number, Actor *actor) {
    const int out = n_inputs_ + number;
    Array &of = arrays_[at(out)];
    Operand from, onto;
    from.in = draw_source(number, &from.delay, -1);
    const std::vector<int64_t> read = arrays_[at(from.in)].extents;
    onto.out = out;
    const bool is_fresh = random_->chance(50);
    if (!is_fresh)
        onto.in = draw_source(number, &onto.delay, out);
    actor->operands = {from, onto};
    actor->reduces = true;
    static const polytile_role roles[] = {POLYTILE_SUM, POLYTILE_PROD, POLYTILE_MIN, POLYTILE_MAX};
    GenericSection section = around(of.extents.size(), 0);
    if (section.size() == 2)
        section[1] = {GenericWindow::fixed, 0, 0};
    else
        section[0] = {GenericWindow::fixed, 0, 0};
    finish_actor(
        actor,
        {{POLYTILE_IN, false, read, arrays_[at(from.in)].element_bytes, {around(read.size(), 0)}},
         {roles[random_->number(0, 3)], is_fresh, of.extents, of.element_bytes, {section}}});
}

/** A stencil, or windows that may lie anywhere, with edges. */
GenericSection RandomStream::draw_section(int64_t most) {
    GenericSection section = around(extents_.size(), random_->number(0, most));
    for (GenericWindow &window : section) {
        if (!asks_ends_ || !random_->chance(60))
            continue;
        window.lo = random_->number(-9, 9);
        window.hi = window.lo + random_->number(0, 2);
        window.edge = random_->chance(60) ? GenericWindow::wrap : GenericWindow::clamp;
    }
    return section;
}

/** Several stencils into one result, which may have been something before. */
void RandomStream::add_mixture(int number, Actor *actor) {
    const int out = n_inputs_ + number;
    const Array &of = arrays_[at(out)];
    const int64_t most = *std::min_element(extents_.begin(), extents_.end()) > 4 ? 2 : 0;
    std::vector<GenericAccess> accesses;
    for (int64_t k = random_->number(1, 3); k > 0; k--) {
        Operand from;
        from.in = draw_source(number, &from.delay, -1);
        accesses.push_back({POLYTILE_IN,
                            false,
                            arrays_[at(from.in)].extents,
                            arrays_[at(from.in)].element_bytes,
                            {draw_section(most)}});
        actor->operands.push_back(from);
    }
    Operand onto;
    onto.out = out;
    const bool is_both = random_->chance(30);
    if (is_both)
        onto.in = draw_source(number, &onto.delay, out);
    accesses.push_back({is_both ? POLYTILE_INOUT : POLYTILE_OUT,
                        false,
                        of.extents,
                        of.element_bytes,
                        {around(extents_.size(), 0)}});
    actor->operands.push_back(onto);
    finish_actor(actor, std::move(accesses));
}

void RandomStream::add_actor(int number) {
    Actor actor;
    const int64_t kind = random_->number(0, 99) + (splits_ ? 25 : 0);
    if (kind < 20)
        add_repeated(number, &actor);
    else if (kind < 40)
        add_reduction(number, &actor);
    else
        add_mixture(number, &actor);
    actor.unit = random_->chance(50) ? "auto"
                                     : units_[static_cast<size_t>(random_->number(
                                           0, static_cast<int64_t>(units_.size()) - 1))];
    actor.microseconds = random_->one_of({0, 1, 10, 10, 30, 100});
    actor.sleeps_of_100 = random_->one_of({0, 5, 30});
    actors_.push_back(std::move(actor));
}

/** Whether an actor reads an array of an earlier frame. */
bool RandomStream::reads_older(const Actor &actor, int array) const {
    bool does = false;
    for (const Operand &operand : actor.operands)
        does = does || (operand.in == array && operand.delay + arrays_[at(array)].delay > 0);
    return does;
}

bool RandomStream::has_state() const {
    bool has = false;
    for (const Actor &actor : actors_)
        for (int a = 0; a < static_cast<int>(arrays_.size()); a++)
            has = has || reads_older(actor, a);
    return has;
}

/** An actor without state takes, by chance, frames in turn on several units, or on one twice. */
void RandomStream::take_turns(int number) {
    bool has_state = false;
    for (int a = 0; a < static_cast<int>(arrays_.size()); a++)
        has_state = has_state || reads_older(actors_[at(number)], a);
    for (const Actor &other : actors_)
        has_state = has_state || reads_older(other, n_inputs_ + number);
    if (has_state || !random_->chance(50))
        return;
    std::string list;
    for (int64_t k = random_->number(2, 3); k > 0; k--)
        list += (list.empty() ? "" : "|") + units_[static_cast<size_t>(random_->number(
                                                0, static_cast<int64_t>(units_.size()) - 1))];
    actors_[at(number)].unit = "\"" + list + "\"";
}

bool RandomStream::is_read_later(int array) const {
    bool is = false;
    for (const Actor &actor : actors_)
        is = is || reads_older(actor, array);
    return is;
}

/** An actor whose arrays nobody reads later is, by chance, split over several units. */
void RandomStream::split(int number) {
    Actor &actor = actors_[at(number)];
    bool can_be =
        actor.repeat == 1 && !actor.reduces && actor.domain.range[0].hi > actor.domain.range[0].lo;
    for (const Operand &operand : actor.operands)
        can_be = can_be && (operand.in < 0 || !is_read_later(operand.in)) &&
                 (operand.out < 0 || !is_read_later(operand.out));
    if (!can_be || !random_->chance(60))
        return;
    std::string list;
    const int64_t most =
        std::min<int64_t>(4, actor.domain.range[0].hi - actor.domain.range[0].lo + 1);
    for (int64_t k = random_->number(2, most); k > 0; k--)
        list += (list.empty() ? "" : "+") + units_[static_cast<size_t>(random_->number(
                                                0, static_cast<int64_t>(units_.size()) - 1))];
    actor.unit = "\"" + list + "\"";
    n_split_++;
}

std::string RandomStream::text() const {
    std::string text = "digraph {\n";
    for (int a = 0; a < static_cast<int>(arrays_.size()); a++)
        if (arrays_[at(a)].producer >= 0 || arrays_[at(a)].is_read)
            text += "  " + name(a) + " [type=" + type_of(arrays_[at(a)].element_bytes) +
                    ", extents=\"" + join(arrays_[at(a)].extents) + "\"];\n";
    for (size_t k = 0; k < actors_.size(); k++) {
        const Actor &actor = actors_[k];
        const std::string own = "actor" + std::to_string(k);
        text += "  " + own + " [kernel=\"" + actor.kernel->declaration() + "\", domain=\"" +
                text_of(actor.domain) + "\", on=" + actor.unit +
                ", repeat=" + std::to_string(actor.repeat) + ", seconds=\"" +
                std::to_string(actor.microseconds) + "us\"];\n";
        for (size_t o = 0; o < actor.operands.size(); o++) {
            const Operand &operand = actor.operands[o];
            const std::string as = std::string(" [as=") + static_cast<char>('a' + o);
            if (operand.in >= 0)
                text += "  " + name(operand.in) + " -> " + own + as +
                        ", delay=" + std::to_string(operand.delay) + "];\n";
            if (operand.out >= 0)
                text += "  " + own + " -> " + name(operand.out) + as +
                        ", delay=" + std::to_string(arrays_[at(operand.out)].delay) + "];\n";
        }
    }
    return text + "}\n";
}

polytile_implementation RandomStream::implementation(size_t actor) const {
    polytile_implementation made = actors_[actor].kernel->implementation();
    made.user = const_cast<Slow *>(keep(made, actors_[actor].sleeps_of_100));
    made.host = run_slowly;
    return made;
}

polytile_status RandomStream::bind(polytile_graph *graph,
                                   const std::vector<const void *> &symbols) const {
    polytile_status status = POLYTILE_OK;
    for (size_t k = 0; k < actors_.size() && status == POLYTILE_OK; k++) {
        polytile_implementation made = implementation(k);
        made.cuda = k < symbols.size() ? symbols[k] : nullptr;
        status = polytile_graph_bind(graph, ("actor" + std::to_string(k)).c_str(), &made);
    }
    return status;
}

std::vector<int> RandomStream::inputs() const {
    std::vector<int> list;
    for (int a = 0; a < n_inputs_; a++)
        if (arrays_[at(a)].is_read)
            list.push_back(a);
    return list;
}

std::vector<int> RandomStream::outputs() const {
    std::vector<int> list;
    for (int a = n_inputs_; a < static_cast<int>(arrays_.size()); a++)
        if (!arrays_[at(a)].is_read)
            list.push_back(a);
    return list;
}

/** What an array held so many frames ago; zeros before the first one. */
Bytes RandomStream::before(int array, int delay) const {
    const std::deque<Bytes> &kept = frames_[at(array)];
    const auto back = static_cast<size_t>(delay);
    return back < kept.size() ? kept[back] : Bytes(n_bytes(array));
}

void RandomStream::run_actor(const Actor &actor) {
    std::vector<Bytes> memory;
    std::vector<unsigned char *> data;
    for (const Operand &operand : actor.operands)
        memory.push_back(operand.in < 0
                             ? Bytes(n_bytes(operand.out))
                             : before(operand.in, operand.delay + arrays_[at(operand.in)].delay));
    for (Bytes &bytes : memory)
        data.push_back(bytes.data());
    for (int64_t run = 0; run < actor.repeat; run++) {
        if (run > 0 && actor.operands.size() == 2) {
            memory[0] = memory[1];
            data[0] = memory[0].data();
            std::fill(memory[1].begin(), memory[1].end(), static_cast<unsigned char>(0));
        }
        actor.kernel->run_plainly(actor.domain, data);
    }
    for (size_t o = 0; o < actor.operands.size(); o++)
        if (actor.operands[o].out >= 0)
            frames_[at(actor.operands[o].out)][0] = memory[o];
}

/** A frame that is not made yet stands as zeros, which nobody reads. */
std::vector<Bytes> RandomStream::run_plainly(const std::vector<Bytes> &inputs) {
    for (int a = 0; a < static_cast<int>(arrays_.size()); a++) {
        frames_[at(a)].push_front(Bytes(n_bytes(a)));
        if (frames_[at(a)].size() > n_kept)
            frames_[at(a)].pop_back();
    }
    const std::vector<int> fed = this->inputs();
    for (size_t k = 0; k < fed.size(); k++)
        frames_[at(fed[k])][0] = inputs[k];
    for (const Actor &actor : actors_)
        run_actor(actor);
    std::vector<Bytes> results;
    for (const int output : outputs())
        results.push_back(before(output, arrays_[at(output)].delay));
    return results;
}
