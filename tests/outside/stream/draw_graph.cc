#include "outside/draw.h"
#include "outside/stream/graph.h"

#include <algorithm>

namespace outside {

namespace {

/** Draws actors one after the other, each of which reads what is there, or asks for more. */
class GraphDrawer {
  public:
    explicit GraphDrawer(uint64_t seed) : dice(mix(seed, 23)) { graph.seed = seed; }

    Graph draw();

  private:
    Dice dice;
    Graph graph;
    std::vector<Shape> shapes;

    void draw_units();
    void draw_shapes();
    Kernel draw_actor_kernel();
    void add_actor();
    int add_array(const Shape &shape, bool is_made);
    int draw_source(const Shape &shape);
    void draw_delays();
    void draw_turns();
};

Range draw_range(Dice &dice) {
    const int64_t lo = dice.chance(80) ? 0 : dice.between(-4, 4);
    return {lo, lo + dice.pick<int64_t>({1, 2, 3, 5, 7, 8, 13, 30}) - 1};
}

polytile_type draw_element(Dice &dice) {
    return dice.pick<polytile_type>({POLYTILE_F32, POLYTILE_F32, POLYTILE_I32, POLYTILE_U8,
                                     POLYTILE_F64, POLYTILE_I64, POLYTILE_BF16, POLYTILE_C64,
                                     POLYTILE_C128, POLYTILE_INDEXED(POLYTILE_F32)});
}

bool reads(const Kernel &kernel, int operand) {
    for (const Access &access : kernel.accesses)
        if (access.operand == operand &&
            (is_reading(access.role) || (is_reducing(access.role) && !access.is_fresh)))
            return true;
    return false;
}

/** What graphs cannot have, or the contract leaves open. */
bool is_unfit(const Kernel &kernel, const Verdict &verdict) {
    return !verdict.is_right() || verdict.may_be_refused() || has_look_ups(kernel);
}

void GraphDrawer::draw_units() {
    const int n = dice.weighted({0, 3, 4, 2});
    for (int k = 0; k < n; k++) {
        std::string text = "host";
        if (dice.chance(55))
            text += "(memory=" + std::to_string(dice.pick({2048, 8192, 65536, 1 << 20})) +
                    "B,threads=" + std::to_string(k + 1) + ")";
        else
            text += "(threads=" + std::to_string(k + 1) + ")";
        graph.units.push_back(text);
    }
    for (int k = 1; k < n; k++)
        if (dice.chance(40))
            graph.links += " u0 -> u" + std::to_string(k) + " [bandwidth=\"" +
                           dice.pick({"1GB/s", "30MB/s", "5GiB/s"}) + "\", latency=\"" +
                           dice.pick({"0us", "5us", "1ms"}) + "\"];";
}

void GraphDrawer::draw_shapes() {
    for (int k = dice.weighted({5, 3, 1}); k >= 0; k--) {
        Shape shape;
        shape.type = draw_element(dice);
        for (int n_dims = dice.weighted({0, 6, 4, 1}); n_dims > 0; n_dims--)
            shape.box.push_back(draw_range(dice));
        shapes.push_back(shape);
    }
}

Kernel GraphDrawer::draw_actor_kernel() {
    Fixed fixed;
    fixed.percent_wrong = 0;
    fixed.is_apart = true;
    for (;;) {
        Verdict verdict;
        Kernel kernel = draw_kernel(dice, shapes, fixed, verdict);
        kernel.is_built = false;
        kernel.flaw = Flaw::none;
        list_unnamed(kernel);
        const bool writes =
            std::any_of(kernel.accesses.begin(), kernel.accesses.end(), [](const Access &access) {
                return access.role != POLYTILE_IN && access.role != POLYTILE_SCRATCH;
            });
        if (writes && !is_unfit(kernel, verdict))
            return kernel;
    }
}

int GraphDrawer::add_array(const Shape &shape, bool is_made) {
    graph.arrays.push_back(shape);
    graph.is_made.push_back(is_made);
    return static_cast<int>(graph.arrays.size()) - 1;
}

/** An array that is there, or another one that the program feeds. */
int GraphDrawer::draw_source(const Shape &shape) {
    std::vector<int> fitting;
    for (size_t k = 0; k < graph.arrays.size(); k++)
        if (graph.arrays[k] == shape)
            fitting.push_back(static_cast<int>(k));
    return fitting.empty() || dice.chance(20) ? add_array(shape, false) : dice.pick(fitting);
}

/** Two operands that may change places, or one that is read and written. */
bool may_repeat(const Actor &actor) {
    const std::vector<Shape> &shapes = actor.kernel.operands;
    size_t n_in = 0, n_out = 0;
    for (size_t k = 0; k < shapes.size(); k++) {
        n_in += actor.in[k].array != NO_ARRAY;
        n_out += actor.out[k].array != NO_ARRAY;
    }
    if (shapes.size() == 1)
        return n_in == 1 && n_out == 1;
    return shapes.size() == 2 && n_in == 1 && n_out == 1 && shapes[0] == shapes[1] &&
           (actor.in[0].array == NO_ARRAY) == (actor.in[1].array != NO_ARRAY) &&
           (actor.in[0].array == NO_ARRAY) == (actor.out[0].array != NO_ARRAY);
}

void GraphDrawer::add_actor() {
    Actor actor;
    actor.kernel = draw_actor_kernel();
    actor.kernel.name = "k" + std::to_string(graph.actors.size());
    const size_t n = actor.kernel.operands.size();
    actor.in.resize(n);
    actor.out.resize(n);
    for (const Parameter &parameter : actor.kernel.parameters)
        actor.values.push_back(
            signed_number(is_integer(parameter.type) ? parameter.value : dice.between(0, 9)));
    for (size_t k = 0; k < n; k++)
        if (!actor.kernel.operands[k].is_scratch && reads(actor.kernel, static_cast<int>(k)))
            actor.in[k].array = draw_source(actor.kernel.operands[k]);
    for (size_t k = 0; k < n; k++)
        if (!actor.kernel.operands[k].is_scratch && is_written(actor.kernel, static_cast<int>(k)))
            actor.out[k].array = add_array(actor.kernel.operands[k], true);
    if (may_repeat(actor) && dice.chance(40))
        actor.repeat = static_cast<int>(dice.between(1, 5));
    if (dice.chance(50))
        actor.unit =
            "u" + std::to_string(dice.between(0, static_cast<int64_t>(graph.units.size()) - 1));
    if (dice.chance(40))
        actor.seconds = dice.pick({"1us", "50us", "1ms", "0.002"});
    graph.actors.push_back(actor);
}

/** Some edges get what the frame before left, also of actors that come later. */
void GraphDrawer::draw_delays() {
    for (Actor &actor : graph.actors)
        for (size_t k = 0; k < actor.in.size(); k++) {
            Edge &edge = actor.in[k];
            if (edge.array == NO_ARRAY)
                continue;
            if (dice.chance(8))
                edge.depth = static_cast<int>(dice.between(1, 6));
            if (!dice.chance(25))
                continue;
            std::vector<int> made;
            for (size_t array = 0; array < graph.arrays.size(); array++)
                if (graph.is_made[array] && graph.arrays[array] == actor.kernel.operands[k])
                    made.push_back(static_cast<int>(array));
            if (made.empty())
                continue;
            edge.array = dice.pick(made);
            edge.is_delayed = true;
        }
}

bool passes_older_frames(const Actor &actor, const Graph &graph) {
    for (const Actor &other : graph.actors)
        for (const Edge &edge : other.in)
            for (const Edge &out : actor.out)
                if (edge.is_delayed &&
                    (&other == &actor || (out.array != NO_ARRAY && out.array == edge.array)))
                    return true;
    return false;
}

/** Actors without state may take frames in turn. */
void GraphDrawer::draw_turns() {
    for (Actor &actor : graph.actors) {
        if (passes_older_frames(actor, graph) || !dice.chance(25))
            continue;
        actor.unit.clear();
        for (int64_t k = dice.between(2, 3); k > 0; k--)
            actor.unit +=
                (actor.unit.empty() ? "u" : "|u") +
                std::to_string(dice.between(0, static_cast<int64_t>(graph.units.size()) - 1));
    }
}

Graph GraphDrawer::draw() {
    draw_units();
    draw_shapes();
    for (int k = dice.weighted({2, 3, 4, 2, 1}); k >= 0; k--)
        add_actor();
    draw_delays();
    draw_turns();
    find_ports(graph);
    if (dice.chance(40))
        graph.objective = dice.pick({"period", "latency", "memory"});
    graph.drops_when_full = dice.chance(20);
    graph.n_frames = static_cast<int>(dice.between(1, dice.chance(20) ? 40 : 9));
    return graph;
}

} // namespace

void find_ports(Graph &graph) {
    graph.is_read.assign(graph.arrays.size(), false);
    for (const Actor &actor : graph.actors)
        for (const Edge &edge : actor.in)
            if (edge.array != NO_ARRAY)
                graph.is_read[static_cast<size_t>(edge.array)] = true;
}

Graph draw_graph(uint64_t seed) {
    return GraphDrawer(seed).draw();
}

} // namespace outside
