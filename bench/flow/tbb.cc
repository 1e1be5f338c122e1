#include "flow.h"

#include "common/bench.h"

#include <oneapi/tbb/flow_graph.h>

#include <vector>

/* A frame in flight has buffers of its own. They are the tokens, so that no more are in flight. */

namespace {

namespace flow = oneapi::tbb::flow;

struct Frame {
    std::vector<float> x, y, z;
};

} // namespace

const bool flow_has_tbb = true;

double flow_by_tbb(const flow_case *of, double *sum) {
    std::vector<Frame> frames(FLOW_DEPTH);
    for (Frame &frame : frames)
        frame.x = frame.y = frame.z = std::vector<float>(static_cast<size_t>(of->n_numbers));
    int64_t n_fed = 0;
    *sum = 0;
    flow::graph graph;
    flow::queue_node<Frame *> idle(graph);
    flow::function_node<Frame *, Frame *> a(graph, flow::serial, [&](Frame *frame) {
        flow_smooth(of, frame->x.data(), frame->y.data());
        return frame;
    });
    flow::function_node<Frame *, Frame *> b(graph, flow::serial, [&](Frame *frame) {
        flow_smooth(of, frame->y.data(), frame->z.data());
        return frame;
    });
    flow::multifunction_node<Frame *, std::tuple<Frame *>> feed(
        graph, flow::serial, [&](Frame *frame, auto &out) {
            if (n_fed == of->n_frames)
                return;
            flow_feed(of, n_fed++, frame->x.data());
            std::get<0>(out).try_put(frame);
        });
    flow::function_node<Frame *, Frame *> take(graph, flow::serial, [&](Frame *frame) {
        *sum += flow_take(of, frame->z.data());
        return frame;
    });
    flow::make_edge(flow::output_port<0>(feed), a);
    flow::make_edge(a, b);
    flow::make_edge(b, take);
    flow::make_edge(take, idle);
    flow::make_edge(idle, feed);
    const double begin_s = bench_now_s();
    for (Frame &frame : frames)
        idle.try_put(&frame);
    graph.wait_for_all();
    return bench_now_s() - begin_s;
}
