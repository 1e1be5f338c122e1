#include "outside/body.h"
#include "outside/host_memory.h"
#include "outside/stream/graph.h"

#include <polytile/polytile.h>

#include <cstring>
#include <deque>
#include <memory>

namespace outside {

namespace {

using Frame = std::vector<Bytes>; /* what each array holds */

/** Feeds a stream, takes its results, and compares them with plain loops. */
class StreamRunner {
  public:
    explicit StreamRunner(const Graph &drawn) : graph(drawn), dice(mix(drawn.seed, 29)) {}
    StreamRunner(const StreamRunner &) = delete;
    StreamRunner &operator=(const StreamRunner &) = delete;
    ~StreamRunner() { polytile_context_destroy(ctx); }

    Outcome run();

  private:
    const Graph &graph;
    Dice dice;
    Outcome outcome;
    polytile_context *ctx = nullptr;
    polytile_graph *handle = nullptr;
    polytile_machine *machine = nullptr;
    polytile_graph_plan *plan = nullptr;
    polytile_stream *stream = nullptr;
    std::deque<Body> bodies;
    std::vector<int> inputs, outputs;
    std::vector<std::unique_ptr<HostMemory>> memories; /* of ports */
    std::vector<polytile_array *> ports;
    std::vector<Frame> frames;
    int64_t n_pushed = 0, n_pulled = 0, n_dropped = 0;

    bool fail(const std::string &kind, const std::string &what);
    bool refuse(polytile_status status, const char *call);
    bool succeeds(polytile_status status, const char *call);
    bool open();
    bool bind();
    bool wrap_ports();
    bool check_names();
    void run_actor(const Actor &actor, const Frame &before, Frame &frame);
    void interpret_frame(int64_t number);
    bool push();
    bool pull();
    bool peek();
    bool check_report();
};

bool StreamRunner::fail(const std::string &kind, const std::string &what) {
    if (outcome.failure.empty())
        outcome.failure = kind + ": " + what;
    return false;
}

/** What a plan may be refused for: memory, depths that no schedule keeps, state without overlap. */
bool StreamRunner::refuse(polytile_status status, const char *call) {
    const std::string text = polytile_last_error(ctx);
    const bool is_right = status == POLYTILE_NO_FIT || status == POLYTILE_UNSUPPORTED ||
                          (status == POLYTILE_DECLARATION && text.find("depth") != text.npos);
    if (!is_right)
        return fail("refused", std::string(call) + ": " + reason(status, "") + text);
    outcome.refusals.push_back(reason(status, text));
    return false;
}

bool StreamRunner::succeeds(polytile_status status, const char *call) {
    return status == POLYTILE_OK ||
           fail("call", std::string(call) + ": " + polytile_status_text(status) + ": " +
                            polytile_last_error(ctx));
}

bool StreamRunner::bind() {
    for (size_t k = 0; k < graph.actors.size(); k++) {
        bodies.emplace_back(graph.actors[k].kernel);
        const std::string name =
            dice.chance(50) ? "a" + std::to_string(k) : graph.actors[k].kernel.name;
        if (!succeeds(polytile_graph_bind(handle, name.c_str(), &bodies.back().implementation),
                      "polytile_graph_bind"))
            return false;
    }
    return true;
}

/** The ports are those of the model, in the text's order. */
bool StreamRunner::check_names() {
    for (size_t k = 0; k < graph.arrays.size(); k++) {
        if (!graph.is_made[k] && graph.is_read[k])
            inputs.push_back(static_cast<int>(k));
        if (graph.is_made[k] && !graph.is_read[k])
            outputs.push_back(static_cast<int>(k));
    }
    for (const bool is_in : {true, false}) {
        const std::vector<int> &numbers = is_in ? inputs : outputs;
        for (size_t k = 0; k <= numbers.size(); k++) {
            const auto at = static_cast<int>(k);
            const char *name = is_in ? polytile_graph_get_input_name(handle, at)
                                     : polytile_graph_get_output_name(handle, at);
            const std::string expected =
                k < numbers.size() ? "x" + std::to_string(numbers[k]) : "none";
            if (expected != (name ? name : "none"))
                return fail("ports", expected + " is called " + (name ? name : "none"));
        }
    }
    return true;
}

bool StreamRunner::wrap_ports() {
    for (size_t k = 0; k < graph.arrays.size(); k++) {
        Array array;
        array.name = "p" + std::to_string(k);
        array.shape = graph.arrays[k];
        if (dice.chance(20))
            array.memory.gaps.assign(array.shape.box.size(), dice.between(0, 3));
        const polytile_domain domain = to_domain(array.shape.box);
        polytile_array *port = nullptr;
        memories.push_back(std::make_unique<HostMemory>(array));
        if (!succeeds(polytile_array_wrap_strides(ctx, array.name.c_str(), array.shape.type,
                                                  &domain, memories.back()->stride_bytes().data(),
                                                  memories.back()->data(), &port),
                      "polytile_array_wrap_strides"))
            return false;
        ports.push_back(port);
    }
    return true;
}

bool StreamRunner::open() {
    polytile_graph_options options = {};
    polytile_stream_options how = {};
    options.objective = graph.objective.empty() ? nullptr : graph.objective.c_str();
    options.no_overlap = graph.has_no_overlap;
    options.in_turn = graph.looks_for_turns;
    how.drops_when_full = graph.drops_when_full;
    setenv("POLYTILE_CHECK", "plan", 1);
    if (polytile_context_create(&ctx) != POLYTILE_OK)
        return fail("call", "polytile_context_create");
    const polytile_status read = polytile_graph_parse(ctx, graph_text(graph).c_str(), &handle);
    if (read != POLYTILE_OK)
        return refuse(read, "polytile_graph_parse");
    if (!check_names() || !bind() ||
        !succeeds(polytile_machine_parse(ctx, machine_text(graph).c_str(), &machine),
                  "polytile_machine_parse"))
        return false;
    polytile_status status = polytile_graph_plan_create(handle, machine, &options, &plan);
    if (status != POLYTILE_OK)
        return refuse(status, "polytile_graph_plan_create");
    status = polytile_stream_create(handle, plan, &how, &stream);
    if (status != POLYTILE_OK)
        return refuse(status, "polytile_stream_create");
    return wrap_ports();
}

/** One firing: what it leaves alone is zero, or as it came in. */
void StreamRunner::run_actor(const Actor &actor, const Frame &before, Frame &frame) {
    const size_t n = actor.in.size();
    std::vector<Bytes> operands(n);
    Launch launch;
    launch.domain = actor.kernel.domain;
    for (size_t k = 0; k < n; k++)
        launch.arrays.push_back(static_cast<int>(k));
    for (size_t k = 0; k < n; k++)
        if (actor.in[k].array != NO_ARRAY)
            operands[k] =
                (actor.in[k].is_delayed ? before : frame)[static_cast<size_t>(actor.in[k].array)];
        else if (!actor.kernel.operands[k].is_scratch)
            operands[k] = zeros(actor.kernel.operands[k]);
    for (int run = 0; run < actor.repeat; run++) {
        if (run && n == 2) {
            const size_t out = actor.out[0].array == NO_ARRAY ? 1 : 0;
            std::swap(operands[0], operands[1]);
            operands[out] = zeros(actor.kernel.operands[out]);
        }
        interpret(actor.kernel, launch, actor.values, operands);
    }
    for (size_t k = 0; k < n; k++)
        if (actor.out[k].array != NO_ARRAY)
            frame[static_cast<size_t>(actor.out[k].array)] = operands[k];
}

void StreamRunner::interpret_frame(int64_t number) {
    Frame zero, frame;
    for (size_t k = 0; k < graph.arrays.size(); k++) {
        zero.push_back(zeros(graph.arrays[k]));
        frame.push_back(
            contents(graph.arrays[k], mix(graph.seed + k, static_cast<uint64_t>(number))));
    }
    const Frame before = number ? frames.back() : zero;
    for (const Actor &actor : graph.actors)
        run_actor(actor, before, frame);
    frames.push_back(frame);
}

bool StreamRunner::push() {
    std::vector<polytile_array *> list;
    int64_t number = -2;
    interpret_frame(n_pushed);
    for (int input : inputs) {
        const auto k = static_cast<size_t>(input);
        memories[k]->change(frames.back()[k]);
        list.push_back(ports[k]);
    }
    if (!succeeds(
            polytile_stream_push(stream, static_cast<int>(list.size()), list.data(),
                                 graph.drops_when_full || dice.chance(70) ? &number : nullptr),
            "polytile_stream_push"))
        return false;
    for (int input : inputs)
        memories[static_cast<size_t>(input)]->change(
            contents(graph.arrays[static_cast<size_t>(input)], dice.bits()));
    if (number == -1 && graph.drops_when_full) {
        frames.pop_back();
        n_dropped++;
        return true;
    }
    if (number != -2 && number != n_pushed)
        return fail("number", "frame " + std::to_string(n_pushed) + " is pushed as " +
                                  std::to_string(number));
    n_pushed++;
    return true;
}

bool StreamRunner::peek() {
    std::vector<const void *> lent(outputs.size() + 1);
    if (!succeeds(polytile_stream_peek(stream, static_cast<int>(outputs.size()), lent.data()),
                  "polytile_stream_peek"))
        return false;
    for (size_t k = 0; k < outputs.size(); k++) {
        const auto number = static_cast<size_t>(outputs[k]);
        Array array;
        array.name = "x" + std::to_string(number);
        array.shape = graph.arrays[number];
        const Bytes &expected = frames[static_cast<size_t>(n_pulled)][number];
        Bytes held(expected.size());
        memcpy(held.data(), lent[k], held.size());
        const std::string difference = difference_of(array, held, expected);
        if (!difference.empty())
            return fail("wrong", "frame " + std::to_string(n_pulled) + ", lent: " + difference);
    }
    return true;
}

bool StreamRunner::pull() {
    std::vector<polytile_array *> list;
    int64_t number = -2;
    if (dice.chance(25) && !peek())
        return false;
    if (dice.chance(90))
        for (int output : outputs)
            list.push_back(ports[static_cast<size_t>(output)]);
    if (!succeeds(polytile_stream_pull(stream, static_cast<int>(list.size()), list.data(), &number),
                  "polytile_stream_pull"))
        return false;
    for (size_t k = 0; k < list.size(); k++) {
        const auto at = static_cast<size_t>(outputs[k]);
        Array array;
        array.name = "x" + std::to_string(at);
        array.shape = graph.arrays[at];
        const std::string difference =
            memories[at]->difference(array, frames[static_cast<size_t>(n_pulled)][at]);
        if (!difference.empty())
            return fail("wrong", "frame " + std::to_string(n_pulled) + ": " + difference);
    }
    if (number != n_pulled)
        return fail("number", "frame " + std::to_string(n_pulled) + " is pulled as " +
                                  std::to_string(number));
    n_pulled++;
    return true;
}

bool StreamRunner::check_report() {
    polytile_stream_report report;
    polytile_stream_get_report(stream, &report);
    if (report.n_pushed != n_pushed || report.n_pulled != n_pulled || report.n_failed ||
        report.n_dropped != n_dropped)
        return fail("report", std::to_string(report.n_pushed) + " pushed, " +
                                  std::to_string(report.n_pulled) + " pulled, " +
                                  std::to_string(report.n_failed) + " failed, " +
                                  std::to_string(report.n_dropped) + " dropped");
    return true;
}

Outcome StreamRunner::run() {
    if (!open())
        return outcome;
    const int64_t depth = polytile_stream_get_depth(stream);
    const int percent = static_cast<int>(dice.pick<int64_t>({10, 50, 90}));
    bool goes_on = depth >= 1 || fail("depth", std::to_string(depth));
    while (goes_on && n_pulled < graph.n_frames) {
        const bool may_push = n_pushed < graph.n_frames && n_pushed - n_pulled < depth;
        const bool may_pull = n_pulled < n_pushed;
        goes_on = may_push && (!may_pull || dice.chance(percent)) ? push() : pull();
        if (goes_on && dice.chance(10))
            goes_on = check_report();
    }
    for (const Body &body : bodies)
        if (!body.wrong.empty())
            fail("view", body.kernel.name + ": " + body.wrong);
    outcome.n_accepted = 1;
    return outcome;
}

} // namespace

Outcome run_graph(const Graph &graph) {
    return StreamRunner(graph).run();
}

} // namespace outside
