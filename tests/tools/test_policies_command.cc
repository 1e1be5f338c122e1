#include "support/xml.h"
#include "tools/command.h"

/* polytile policies. */

namespace {

/** A NumPy file of costs. */
class CostsFile {
  public:
    explicit CostsFile(const std::vector<double> &costs) {
        std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (" +
                             std::to_string(costs.size()) + ",), }";
        header += std::string(117 - header.size(), ' ') + "\n";
        std::ofstream file(path, std::ios::binary);
        file.write("\x93NUMPY\x01\x00\x76\x00", 10);
        file << header;
        file.write(reinterpret_cast<const char *>(costs.data()),
                   static_cast<std::streamsize>(costs.size() * sizeof(double)));
    }
    ~CostsFile() { unlink(path.c_str()); }
    CostsFile(const CostsFile &) = delete;
    CostsFile &operator=(const CostsFile &) = delete;

    const std::string path = "/tmp/polytile-costs-" + std::to_string(getpid()) + ".npy";
};

TEST_F(Command, SimulatesPoliciesOnUnitsOfGivenSpeeds) {
    Json root = run_json("policies --speeds 8,1,1 --nodes 1,2 --rows 1000 --policy equal "
                         "--policy 'equal(node)' --policy 'weighted(8,1,1)' --policy weighted");
    EXPECT_EQ(real_of(root.get(), "lower_bound_s"), 100);
    const double makespans[] = {333, 250, 100, 100};
    const int64_t rows_of_first[] = {334, 500, 800, 800};
    const json_t *policies = json_object_get(root.get(), "policies");
    ASSERT_EQ(json_array_size(policies), 4u);
    for (size_t k = 0; k < 4; k++) {
        const json_t *policy = json_array_get(policies, k);
        EXPECT_EQ(real_of(policy, "makespan_s"), makespans[k]);
        EXPECT_EQ(real_of(policy, "pieces"), 3);
        const json_t *first = json_array_get(json_object_get(policy, "units"), 0);
        EXPECT_EQ(json_integer_value(json_object_get(first, "rows")), rows_of_first[k]);
        EXPECT_EQ(real_of(first, "busy_s"), static_cast<double>(rows_of_first[k]) / 8);
    }
}

TEST_F(Command, SimulatesCostsOfAFile) {
    const CostsFile costs({4, 1, 1, 1, 1});
    Json root = run_json("policies --speeds 1,1 --costs " + costs.path + " --policy 'self(1)'");
    EXPECT_EQ(real_of(root.get(), "lower_bound_s"), 4);
    const json_t *policy = json_array_get(json_object_get(root.get(), "policies"), 0);
    EXPECT_EQ(real_of(policy, "makespan_s"), 4);
}

TEST_F(Command, RefusesCostsThatAreNone) {
    const CostsFile costs({4, -1});
    const Shell::Result wrong = run("policies --speeds 1,1 --costs " + costs.path);
    EXPECT_EQ(wrong.exit_code, 2);
    EXPECT_NE(wrong.err.find("row 1 costs -1"), std::string::npos) << wrong.err;
}

TEST_F(Command, DrawsWhoRanWhatWhen) {
    ASSERT_EQ(run("policies --speeds 4,1 --rows 100 --svg who.svg").exit_code, 0);
    EXPECT_EQ(xml_error(shell_.read("who.svg")), "");
}

TEST_F(Command, RefusesToSimulateWhatIsIncomplete) {
    for (const char *arguments :
         {"", "--speeds 1,1", "--speeds 1,1 --rows 0", "--speeds 1, --rows 3", "--rows 3",
          "--speeds 1,0 --rows 3", "--speeds 1,1 --rows 3 --policy fair",
          "--speeds 1,1 --rows 3 --nodes 1", "--speeds 1,1 --rows 3 --nodes 1.5,1",
          "--speeds 1,1 --rows 3 --costs x.npy", "--speeds 1,1 --costs nowhere.npy",
          "--speeds 1,1 --rows 3 more", "--speeds", "--fast"})
        EXPECT_EQ(run(std::string("policies ") + arguments).exit_code, 2) << arguments;
    EXPECT_EQ(run("policies --help").exit_code, 0);
}

} // namespace
