#include "support/xml.h"
#include "tools/command.h"

/* polytile graph. */

namespace {

/** A file of a text, in a directory that ends with the process. */
class TextFile {
  public:
    TextFile(const char *name, const std::string &text)
        : path("/tmp/polytile-" + std::string(name) + "-" + std::to_string(getpid())) {
        std::ofstream(path) << text;
    }
    ~TextFile() { unlink(path.c_str()); }
    TextFile(const TextFile &) = delete;
    TextFile &operator=(const TextFile &) = delete;

    const std::string path;
};

const char pipeline_text[] =
    "digraph { { node [type=f32, extents=\"1000x1000\"]; m0; m1; m2 }\n"
    "i1 [kernel=\"i[x,y]: in a[x,y]; out b[x,y]\", on=g0, seconds=\"1ms\"];\n"
    "i2 [kernel=\"i[x,y]: in a[x,y]; out b[x,y]\", seconds=\"3ms\"];\n"
    "m0 -> i1 [as=a]; i1 -> m1 [as=b]; m1 -> i2 [as=a]; i2 -> m2 [as=b]; }";

const char machine_text[] =
    "digraph { g0 [device=\"cuda:0(memory=1GiB)\"]; g1 [device=\"cuda:1\"]; "
    "g0 -> g1 [bandwidth=\"50GB/s\"] }";

TEST_F(Command, PlansAGraphForAMachine) {
    const TextFile graph("graph.dot", pipeline_text), machine("machine.dot", machine_text);
    Json root = run_json("graph " + graph.path + " --machine " + machine.path);
    EXPECT_DOUBLE_EQ(real_of(root.get(), "period_s"), .003);
    const json_t *actors = json_object_get(root.get(), "actors");
    ASSERT_EQ(json_array_size(actors), 2u);
    EXPECT_STREQ(json_string_value(json_object_get(json_array_get(actors, 1), "on")), "g1");
    EXPECT_EQ(real_of(json_array_get(actors, 1), "seconds"), .003);
    for (const char *key : {"array", "on", "bytes", "capacity", "colour", "offset_bytes"})
        EXPECT_NE(json_object_get(json_array_get(json_object_get(root.get(), "channels"), 0), key),
                  nullptr)
            << key;
    for (const char *key : {"bound_s", "bound", "latency_s", "frames_in_flight"})
        EXPECT_NE(json_object_get(root.get(), key), nullptr) << key;
    Json off = run_json("graph " + graph.path + " --machine " + machine.path + " --overlap off");
    EXPECT_GT(real_of(off.get(), "period_s"), .003);
}

TEST_F(Command, TakesMeasuredSecondsBackIntoAGraph) {
    const TextFile graph("graph.dot", pipeline_text), machine("machine.dot", machine_text);
    const TextFile profile("profile.json", "{\"actors\": [{\"name\": \"i2\", \"seconds\": 0.25}]}");
    Json root = run_json("graph " + graph.path + " --machine " + machine.path + " --profile " +
                         profile.path);
    EXPECT_DOUBLE_EQ(real_of(root.get(), "period_s"), .25);
    const TextFile slow("slow.json",
                        "{\"actors\": [], \"links\": [{\"from\": \"host\", \"to\": \"g0\", "
                        "\"bytes_per_s\": 1e6}]}");
    Json slower =
        run_json("graph " + graph.path + " --machine " + machine.path + " --profile " + slow.path);
    EXPECT_NEAR(real_of(slower.get(), "period_s"), 4, 1e-3) << "a frame has 4 MB";
    for (const char *text :
         {"{\"actors\": [{\"name\": \"i3\", \"seconds\": 1}]}", "{\"actors\": [], \"links\": 1}",
          "{\"actors\": [], \"links\": [{\"from\": \"g0\", \"to\": \"g0\", \"bytes_per_s\": 1}]}",
          "{\"actors\": [], \"links\": [{\"from\": \"g0\", \"to\": \"host\"}]}", "{\"links\": []}",
          "["}) {
        const TextFile wrong("wrong.json", text);
        EXPECT_EQ(
            run("graph " + graph.path + " --machine " + machine.path + " --profile " + wrong.path)
                .exit_code,
            2)
            << text;
    }
}

TEST_F(Command, LetsActorsTakeFramesInTurn) {
    const TextFile graph("graph.dot", pipeline_text), machine("machine.dot", machine_text);
    const std::string turns =
        "graph " + graph.path + " --machine " + machine.path + " --map turns --svg turns.svg";
    Json root = run_json(turns);
    EXPECT_NEAR(real_of(root.get(), "period_s"), .0025, 1e-9) << "g0 also runs every other i2";
    EXPECT_EQ(real_of(root.get(), "turns"), 2);
    EXPECT_EQ(json_array_size(json_object_get(root.get(), "actors")), 3u) << "i2 is on both";
    EXPECT_EQ(xml_error(shell_.read("turns.svg")), "");
    EXPECT_NE(run(turns).out.find("g1, in turn"), std::string::npos);
    EXPECT_EQ(run(turns + " --overlap off").exit_code, 2);
}

TEST_F(Command, DrawsAGraphAndWritesItsMapping) {
    const TextFile graph("graph.dot", pipeline_text), machine("machine.dot", machine_text);
    const std::string planned = "/tmp/polytile-planned-" + std::to_string(getpid()) + ".dot";
    ASSERT_EQ(run("graph " + graph.path + " --machine " + machine.path + " --svg graph.svg --dot " +
                  planned)
                  .exit_code,
              0);
    EXPECT_EQ(xml_error(shell_.read("graph.svg")), "");
    EXPECT_EQ(run("graph " + planned + " --machine " + machine.path + " --map keep").exit_code, 0);
    unlink(planned.c_str());
}

TEST_F(Command, RefusesGraphsThatAreWrongOrDoNotFit) {
    const TextFile graph("graph.dot", pipeline_text), machine("machine.dot", machine_text);
    const TextFile small("small.dot", "digraph { g0 [device=\"cuda:0(memory=7MiB)\"] }");
    const TextFile wrong("wrong.dot", "digraph { a -> b }");
    const std::string given = "graph " + graph.path + " --machine ";
    const Shell::Result refused = run(given + small.path);
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_NE(refused.err.find("one frame of actor i1 needs 7.63 MiB"), std::string::npos)
        << refused.err;
    EXPECT_EQ(run(given + machine.path + " --map keep").exit_code, 2);
    EXPECT_EQ(run("graph " + wrong.path).exit_code, 2);
    for (const char *arguments :
         {"", "nowhere.dot", "--map some x.dot", "--overlap maybe x.dot", "x.dot y.dot", "--fast"})
        EXPECT_EQ(run(std::string("graph ") + arguments).exit_code, 2) << arguments;
    EXPECT_EQ(run(given + machine.path + " --objective beauty").exit_code, 2);
    EXPECT_EQ(run("graph --help").exit_code, 0);
}

} // namespace
