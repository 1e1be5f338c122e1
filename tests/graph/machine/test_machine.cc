extern "C" {
#include "graph/machine/machine.h"
}

#include <gtest/gtest.h>

#include <string>

namespace {

class MachineText : public testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }

    polytile_machine *parse(const std::string &text) {
        polytile_machine *machine = nullptr;
        status = polytile_machine_parse(ctx, text.c_str(), &machine);
        EXPECT_EQ(status == POLYTILE_OK, machine != nullptr);
        return machine;
    }

    polytile_context *ctx = nullptr;
    polytile_status status = POLYTILE_OK;
};

TEST_F(MachineText, HasUnitsMemoriesAndLinksEachWay) {
    const polytile_machine *machine =
        parse("digraph { gpu0 [device=\"cuda:0(memory=8GiB)\", rank=0]; gpu1 [device=\"cuda:1\"]; "
              "far [device=host, rank=1]; gpu0 -> gpu1 [bandwidth=\"390GB/s\", latency=\"5us\"]; "
              "gpu1 -> gpu0 [bandwidth=\"1GiB/s\"]; }");
    ASSERT_NE(machine, nullptr) << polytile_last_error(ctx);
    ASSERT_EQ(machine->n_units, 3);
    ASSERT_EQ(machine->n_memories, 4);
    EXPECT_EQ(machine->memory[0].limit_bytes, int64_t{8} << 30);
    EXPECT_FALSE(machine->memory[0].is_host);
    EXPECT_TRUE(machine->memory[2].is_host);
    EXPECT_STREQ(machine->memory[3].name, "host");
    EXPECT_EQ(machine->host[0], 3);
    EXPECT_EQ(machine->host[2], 2);
    pti_machine_link link;
    bool is_assumed;
    ASSERT_TRUE(pti_machine_find_link(machine, 0, 1, &link, &is_assumed));
    EXPECT_FALSE(is_assumed);
    EXPECT_DOUBLE_EQ(link.bytes_per_s, 390e9);
    EXPECT_DOUBLE_EQ(link.latency_s, 5e-6);
    ASSERT_TRUE(pti_machine_find_link(machine, 1, 0, &link, &is_assumed));
    EXPECT_DOUBLE_EQ(link.bytes_per_s, 1073741824.0);
    ASSERT_TRUE(pti_machine_find_link(machine, 0, 3, &link, &is_assumed));
    EXPECT_TRUE(is_assumed);
    EXPECT_DOUBLE_EQ(link.bytes_per_s, 25e9);
    EXPECT_TRUE(pti_machine_find_link(machine, 3, 2, &link, &is_assumed));
    EXPECT_FALSE(pti_machine_find_link(machine, 0, 2, &link, &is_assumed));
}

/* The host with a limit has a memory of its own, as a small accelerator would. */
TEST_F(MachineText, AHostWithALimitIsADevice) {
    const polytile_machine *machine =
        parse("digraph { host [device=host]; small [device=\"host(memory=64MiB)\"] }");
    ASSERT_NE(machine, nullptr) << polytile_last_error(ctx);
    ASSERT_EQ(machine->n_memories, 2);
    EXPECT_EQ(machine->memory[1].limit_bytes, 64 << 20);
    EXPECT_EQ(machine->host[1], 0);
}

TEST_F(MachineText, IsRefusedWithASentenceForEachMistake) {
    const struct {
        const char *text;
        const char *why;
    } cases[] = {
        {"digraph { }", "a machine has 1 to 256 units, not 0"},
        {"digraph { a }", "unit a has no device="},
        {"digraph { a [device=gpu] }", "unknown device \"gpu\""},
        {"digraph { a [device=\"host(memory=1)\"] }", "unit a: device"},
        {"digraph { a [device=host, rank=x] }", "'x' is no rank"},
        {"digraph { a [device=host]; b [device=host] }", "units a and b are the same device"},
        {"digraph { a [device=host, speed=1] }", "a unit has no attribute 'speed'"},
        {"digraph { a [device=host]; b [device=\"cuda:0\"]; a -> b }",
         "link a -> b has no bandwidth="},
        {"digraph { a [device=host]; b [device=\"cuda:0\"]; a -> b [bandwidth=\"5GB\"] }",
         "'5GB' is no rate"},
        {"digraph { a [device=host]; b [device=\"cuda:0\"]; a -> b [bandwidth=\"0GB/s\"] }",
         "'0GB/s' is no rate"},
        {"digraph { a [device=host]; b [device=\"cuda:0\"]; a -> b [bandwidth=\"5GB/s\", "
         "latency=soon] }",
         "'soon' is no time"},
        {"digraph { a [device=host]; b [device=\"cuda:0\"]; edge [bandwidth=\"5GB/s\"]; a -> b; a "
         "-> b }",
         "link a -> b is given twice"},
        {"digraph { a [device=host]; a -> a [bandwidth=\"5GB/s\"] }", "joins a memory with itself"},
    };
    for (const auto &c : cases) {
        parse(c.text);
        EXPECT_EQ(status, POLYTILE_DECLARATION) << c.text;
        EXPECT_NE(std::string(polytile_last_error(ctx)).find(c.why), std::string::npos)
            << polytile_last_error(ctx);
    }
}

TEST_F(MachineText, IsFoundWithoutOne) {
    polytile_machine *machine = nullptr;
    ASSERT_EQ(polytile_machine_find(ctx, &machine), POLYTILE_OK) << polytile_last_error(ctx);
    EXPECT_GE(machine->n_units, 1);
    EXPECT_GE(pti_machine_find_unit(machine, "host"), 0);
    EXPECT_TRUE(machine->is_measured);
}

} // namespace
