#include "support/places.h"
#include "support/shell.h"

#include <gtest/gtest.h>
#include <jansson.h>
#include <memory>
#include <numeric>

/* polytile run, over small files. What it compiles is kept in the build directory, see
 * support/cache.cc. */

namespace {

const std::string command = in_build("tools/polytile run ");
const std::string add = "--kernel 'add[i]: in x[i], y[i]; out z[i]' --body 'z(i) = x(i) + y(i);' ";
const std::string inputs = "--array x=x.npy y=y.npy ";
const std::string output = "--output z:f32:x.0=z.npy ";

/* A file of version 1.0 for elements of a NumPy type. */
template <class T>
std::string npy(const char *descr, const std::vector<int64_t> &shape, const std::vector<T> &data,
                bool fortran = false) {
    std::string header = std::string("{'descr': '") + descr +
                         "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': (";
    for (const int64_t extent : shape)
        header += std::to_string(extent) + ",";
    header += "), }";
    while ((10 + header.size() + 1) % 64 != 0)
        header += ' ';
    header += '\n';
    const auto length = static_cast<uint16_t>(header.size());
    std::string file("\x93NUMPY\x01\x00", 8);
    file += static_cast<char>(length & 0xff);
    file += static_cast<char>(length >> 8);
    file += header;
    file.append(reinterpret_cast<const char *>(data.data()), data.size() * sizeof(T));
    return file;
}

/* The elements after a header. */
template <class T> std::vector<T> elements(const std::string &file) {
    const size_t begin = 10 + static_cast<unsigned char>(file[8]) +
                         256 * static_cast<size_t>(static_cast<unsigned char>(file[9]));
    std::vector<T> data((file.size() - begin) / sizeof(T));
    std::copy(file.begin() + static_cast<std::ptrdiff_t>(begin), file.end(),
              reinterpret_cast<char *>(data.data()));
    return data;
}

class RunCommand : public testing::Test {
  protected:
    void SetUp() override {
        if (access(in_build("tools/polytile").c_str(), X_OK) != 0)
            GTEST_SKIP() << "this build has no command";
        for (int k = 0; k < n; k++) {
            x.push_back(static_cast<float>(k));
            y.push_back(static_cast<float>(k % 7));
        }
        shell.write("x.npy", npy("<f4", {n}, x));
        shell.write("y.npy", npy("<f4", {n}, y));
    }

    Shell::Result run(const std::string &arguments) const { return shell.run(command + arguments); }

    /* A run that is refused, which leaves no file. */
    void expect_refused(const std::string &arguments, int exit_code,
                        const std::string &says) const {
        const Shell::Result result = run(arguments);
        EXPECT_EQ(result.exit_code, exit_code) << arguments << "\n" << result.err;
        EXPECT_NE(result.err.find(says), std::string::npos) << arguments << "\n" << result.err;
        EXPECT_EQ(result.out, "") << arguments;
        EXPECT_EQ(shell.run("ls | grep -c '^z'").out, "0\n") << arguments;
    }

    static constexpr int n = 1000;
    std::vector<float> x, y;
    Shell shell;
};

TEST_F(RunCommand, CreatesAFileWithinALimit) {
    for (const char *device : {"host", "'host(memory=4KiB)'", "host --limit 4KiB"}) {
        const Shell::Result result =
            run(add + "--domain x.0 " + inputs + output + "--device " + device);
        ASSERT_EQ(result.exit_code, 0) << result.err;
        EXPECT_EQ(result.err, "");
        const auto z = elements<float>(shell.read("z.npy"));
        ASSERT_EQ(z.size(), x.size());
        for (size_t k = 0; k < z.size(); k++)
            EXPECT_EQ(z[k], x[k] + y[k]) << k;
    }
}

TEST_F(RunCommand, TakesDomainsFromExtentsAndParametersAndLeavesTheRestZero) {
    std::vector<double> a(40 * 30);
    std::iota(a.begin(), a.end(), 1);
    shell.write("A.npy", npy("<f8", {40, 30}, a));
    const Shell::Result result =
        run("--kernel 'up[i, j](i64 n): in A[i-1:i+1, j]; out B[i, j]' "
            "--body 'B(i, j) = A(i - 1, j) + A(i + 1, j);' --domain n:A.0-2,1+n:A.1-2*n "
            "--param n=1 --array A=A.npy --output B:f64:A.0xA.1=z.npy --limit 4KiB");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto b = elements<double>(shell.read("z.npy"));
    ASSERT_EQ(b.size(), a.size());
    for (size_t i = 0; i < 40; i++)
        for (size_t j = 0; j < 30; j++) {
            const bool is_inside = i >= 1 && i <= 38 && j >= 2 && j <= 28;
            EXPECT_EQ(b[30 * i + j], is_inside ? a[30 * (i - 1) + j] + a[30 * (i + 1) + j] : 0)
                << i << " " << j;
        }
}

TEST_F(RunCommand, PrintsWhatThreadsCombine) {
    const std::string sums =
        "--kernel 'sums[i](f32 a): in x[i]; out sum s[0]; out max m[0]; out min k[0:2]' "
        "--body 'PT_SUM(s(0), a * x(i)); PT_MAX(m(0), x(i)); PT_MIN(k(i % 3), x(i));' "
        "--domain x.0 --array x=x.npy --param a=2 --output s:f64:1 m:f32:1 k:i32:3=k.npy ";
    const Shell::Result result = run(sums + "--device 'host(memory=2KiB)'");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NE(result.out.find("s = 999000\nm = 999\nk = [0, 1, 2]\n"), std::string::npos)
        << result.out;
    EXPECT_EQ(elements<int32_t>(shell.read("k.npy")), (std::vector<int32_t>{0, 1, 2}));

    const Shell::Result data = run(sums + "--json");
    std::unique_ptr<json_t, decltype(&json_decref)> root(json_loads(data.out.c_str(), 0, nullptr),
                                                         json_decref);
    ASSERT_TRUE(root) << data.out;
    const json_t *values = json_object_get(root.get(), "values");
    EXPECT_EQ(json_number_value(json_object_get(values, "s")), 999000);
    EXPECT_EQ(json_integer_value(json_array_get(json_object_get(values, "k"), 2)), 2);
    for (const char *key :
         {"kernel", "device", "limit_bytes", "kernels", "peak_device_bytes", "h2d_bytes",
          "d2h_bytes", "lower_bound_bytes", "plan_s", "total_s", "compute_s", "transfer_s"})
        EXPECT_NE(json_object_get(root.get(), key), nullptr) << key;
}

TEST_F(RunCommand, RefusesOneFileForTwoArraysOfWhichOneIsWritten) {
    const std::string shift = "--kernel 'shift[i]: in x[i-1]; out y[i]' --body 'y(i) = x(i - 1);' "
                              "--domain 1:999 ";
    expect_refused(shift + "--array x=x.npy y=x.npy", 2, "x and y are one file, x.npy");
    ASSERT_EQ(shell.run("ln -s x.npy again.npy").exit_code, 0);
    expect_refused(shift + "--array x=x.npy y=again.npy", 2, "x and y are one file, again.npy");
    EXPECT_EQ(elements<float>(shell.read("x.npy")), x);
}

TEST_F(RunCommand, PrintsAValueWithItsIndexAndComplexNumbers) {
    const std::string top = "--kernel 'top[i]: in x[i]; out argmax s[0]; out argmin t[0]' --body "
                            "'PT_ARGMAX(s(0), i % 3, i); PT_ARGMIN(t(0), i % 3 - 0.5f, i);' "
                            "--domain x.0 --array x=x.npy --output s:i32_i64:1 "
                            "--output t:f32_i64:1 ";
    const Shell::Result text = run(top);
    ASSERT_EQ(text.exit_code, 0) << text.err;
    EXPECT_NE(text.out.find("s = 2 at 2\nt = -0.5 at 0\n"), std::string::npos) << text.out;
    const Shell::Result json = run(top + "--json");
    EXPECT_NE(json.out.find("\"s\": {\"value\": 2, \"index\": 2}"), std::string::npos) << json.out;
    const std::string sum = "--kernel 'sum[i]: in x[i]; out sum s[:]' --body 'PT_SUM(s(0), "
                            "PT_C64(i == 0, i == 1 ? -2.5 : 0)); PT_SUM(s(1), PT_C64(0, i == 2));' "
                            "--domain x.0 --array x=x.npy --output s:c64:2 ";
    const Shell::Result complex = run(sum);
    ASSERT_EQ(complex.exit_code, 0) << complex.err;
    EXPECT_NE(complex.out.find("s = [1-2.5i, 0+1i]\n"), std::string::npos) << complex.out;
    EXPECT_NE(run(sum + "--json").out.find("\"s\": [[1.0, -2.5], [0.0, 1.0]]"), std::string::npos);
}

TEST_F(RunCommand, KeepsNoResultFromItsUser) {
    const std::string sum = "--kernel 'sum[i]: in x[i]; out sum s[0]' --body 'PT_SUM(s(0), 1);' "
                            "--domain x.0 --array x=x.npy ";
    expect_refused(sum + "--output s:f64:17", 2, "at most 16 elements");
    expect_refused(sum + "--output s:f16:1", 2, "at most 16 elements");
    const Shell::Result large = run("--kernel 'most[i]: in x[i]; out max m[0]' "
                                    "--body 'PT_MAX(m(0), 9223372036854775816ul);' --domain x.0 "
                                    "--array x=x.npy --output m:u64:1 --json");
    ASSERT_EQ(large.exit_code, 0) << large.err;
    EXPECT_NE(large.out.find("\"m\": \"9223372036854775816\""), std::string::npos) << large.out;
}

TEST_F(RunCommand, ChangesAFileThatIsThere) {
    shell.write("body", "x(i) *= 2;\n");
    const Shell::Result result = run(
        "--kernel 'twice[i]: inout x[i]' --body @body --domain 1:x.0-1:2 --array x=x.npy --check");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto changed = elements<float>(shell.read("x.npy"));
    for (size_t k = 0; k < x.size(); k++)
        EXPECT_EQ(changed[k], k % 2 == 1 ? 2 * x[k] : x[k]) << k;
}

TEST_F(RunCommand, ChecksTheDeclarationAndTheBodyBefore) {
    const std::string rest = "--array x=x.npy --output z:f32:x.0=z.npy --check";
    expect_refused("--kernel 'k[i]: in x[i]; out z[0]' --body 'z(0) = x(i);' --domain x.0 " + rest,
                   2, "conflict on z[0]");
    expect_refused("--kernel 'k[i]: in x[i]; out z[i]' --body 'z(i) = x(i + 1);' --domain x.0-1 " +
                       rest,
                   2, "it is not declared to be read");
}

TEST_F(RunCommand, TracesWhatTheDeviceDoes) {
    const Shell::Result result =
        run(add + inputs + output + "--domain x.0 --device 'host(memory=2KiB)' --trace run.json");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const std::string trace = shell.read("run.json");
    EXPECT_NE(trace.find("\"launch add\""), std::string::npos) << trace.substr(0, 500);
    EXPECT_EQ(trace.substr(trace.find_last_not_of(" \n"), 1), "}") << "a trace that has its end";
}

TEST_F(RunCommand, DoesNotTraceOverAnArray) {
    const std::string before = shell.read("x.npy");
    for (const char *path : {"x.npy", "./x.npy", "z.npy"}) {
        const Shell::Result result = run(add + inputs + output + "--domain x.0 --trace " + path);
        EXPECT_EQ(result.exit_code, 2) << path;
        EXPECT_NE(result.err.find("name another file"), std::string::npos) << result.err;
    }
    EXPECT_EQ(shell.read("x.npy"), before);
}

TEST_F(RunCommand, RefusesWhatIsWrong) {
    const std::string all = inputs + output, domain = "--domain x.0 ";
    shell.write("short.npy", npy("<f4", {n}, x).substr(0, 500));
    shell.write("fortran.npy", npy("<f4", {500, 2}, x, true));
    shell.write("big.npy", npy(">f4", {n}, x));
    shell.write("text.npy", "no file of NumPy's");
    const struct {
        std::string arguments;
        int exit_code;
        const char *says;
    } rows[] = {
        {"", 2, "--kernel is missing"},
        {"--kernel 'k[i]: inout x[i]'", 2, "--body is missing"},
        {add + all, 2, "--domain is missing"},
        {add + domain + inputs, 2, "z is missing: add writes it; add --output z:TYPE"},
        {add + domain + "--array x=x.npy " + output, 2, "y is missing: add reads it; add --array"},
        {add + domain + all + "--array q=x.npy", 2, "--array q: add has no such array"},
        {add + domain + all + "--array x=x.npy", 2, "x is given twice"},
        {add + domain + all + "--array x", 2, "NAME=FILE.npy"},
        {add + domain + all + domain, 2, "--domain is given twice"},
        {add + domain + inputs + "--output z:f32:x.0", 2, "it has no file"},
        {add + domain + inputs + "--output z:f33:x.0=z.npy", 2, "there is no type f33"},
        {add + domain + inputs + "--output z:f32=z.npy", 2, "NAME:TYPE:EXTENTS=FILE.npy"},
        {add + domain + inputs + "--output z:f32:1:5=z.npy", 2, "indices begin at 0"},
        {add + domain + inputs + "--output z:f32:q.0=z.npy", 2, "q.0 is no parameter"},
        {add + domain + inputs + "--output z:f32:5=no/z.npy", 1, "no/z.npy.part: cannot create"},
        {add + domain + inputs + "--output z:f32:5=z.npy", 2, "z"},
        {add + "--domain q.0 " + all, 2, "q.0 is no parameter"},
        {add + "--domain x.1 " + all, 2, "x.1 is no parameter"},
        {add + "--domain m " + all, 2, "m is no parameter"},
        {add + "--domain 2* " + all, 2, "a name is expected after *"},
        {add + "--domain x.0-2000 " + all, 2, "less than 1"},
        {add + "--domain 9223372036854775807+x.0 " + all, 2, "64-bit"},
        {add + "--domain 10x10 " + all, 2, "--domain has 2 dimensions, but add has 1 index"},
        {add + domain + all + "--param n=1", 2, "n"},
        {add + domain + all + "--limit 8B", 3, "the limit is 8 B"},
        {add + domain + all + "--limit 8", 2, "it has no unit"},
        {add + domain + all + "--device gpu", 2, "gpu"},
        {add + domain + all + "--body @nothing", 2, "--body is given twice"},
        {"--kernel 'k[i]: in x[i]; out z[i]' --body @nothing --domain x.0 " + all, 1,
         "--body @nothing: cannot be read: No such file"},
        {"--kernel 'k[i]: in x[i]; out z[i*i]' --body 'z(i) = 1;' --domain x.0 " + all, 2,
         "affine"},
        {add + domain + "--array x=x.npy y=short.npy " + output, 1, "is truncated"},
        {add + domain + "--array x=x.npy y=none.npy " + output, 1, "none.npy: cannot open"},
        {add + domain + "--array x=x.npy y=text.npy " + output, 1, "text.npy"},
        {add + domain + "--array x=x.npy y=big.npy " + output, 1, "big-endian"},
        {add + domain + "--array x=x.npy y=fortran.npy " + output, 1, "Fortran order"},
    };
    for (const auto &row : rows)
        expect_refused(row.arguments, row.exit_code, row.says);
}

TEST_F(RunCommand, ShowsTheLineOfABodyThatDoesNotCompile) {
    const Shell::Result result = run(
        "--kernel 'add[i]: in x[i], y[i]; out z[i]' --body 'z(i) = x(i) + w(i);' --domain x.0 " +
        inputs + output);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.err.find("w is unknown; the declaration has index i; array x, y, z"),
              std::string::npos)
        << result.err;
    EXPECT_NE(result.err.find("\n  z(i) = x(i) + w(i);\n                ^\n"), std::string::npos)
        << result.err;
}

TEST_F(RunCommand, SaysThatThereIsNoCompiler) {
    const Shell::Result result = shell.run("POLYTILE_CACHE=off POLYTILE_CC=no-such-cc " + command +
                                           add + "--domain x.0 " + inputs + output);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_NE(result.err.find("there is no C compiler no-such-cc here"), std::string::npos)
        << result.err;
}

TEST_F(RunCommand, KeepsAnOldFileWhenItFails) {
    shell.write("z.npy", "old");
    EXPECT_EQ(run(add + "--domain x.0 " + inputs + output + "--limit 8B").exit_code, 3);
    EXPECT_EQ(shell.read("z.npy"), "old");
}

/* What stands in README.md after a word, up to the end of its block. */
std::string block_of_readme(const std::string &begin) {
    std::ifstream file(in_source("README.md"));
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const size_t at = text.find(begin);
    return at == std::string::npos ? "" : text.substr(at, text.find("```", at) - at);
}

TEST_F(RunCommand, TheCommandOfTheReadmeSmooths) {
    const std::string readme = "polytile run ";
    std::string block = block_of_readme(readme);
    ASSERT_EQ(block.rfind(readme, 0), 0u);
    std::vector<float> a(50 * 40);
    std::iota(a.begin(), a.end(), 1.0f);
    shell.write("a.npy", npy("<f4", {50, 40}, a));
    const Shell::Result result =
        run(block.substr(readme.size(), block.find_last_not_of('\n') + 1 - readme.size()));
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto b = elements<float>(shell.read("b.npy"));
    ASSERT_EQ(b.size(), a.size());
    for (size_t i = 1; i < 49; i++)
        for (size_t j = 1; j < 39; j++)
            EXPECT_EQ(b[40 * i + j], a[40 * i + j]) << i << " " << j;
}

TEST_F(RunCommand, KnowsIndexArraysFromFilesAsPlansAndChecksDo) {
    const std::string scaled_rows =
        "--kernel 'rows[i]: in x[P[i]:P[i+1]-1], y[K[P[i]:P[i+1]-1]]; out z[i]' --domain 500 ";
    const std::string body = "--body 'float sum = 0; for (int64_t k = P(i); k < P(i + 1); k++) "
                             "sum += x(k) * y(K(k)); z(i) = sum;' ";
    std::vector<int32_t> P, K;
    for (int k = 0; k <= 500; k++)
        P.push_back(2 * k);
    for (int k = 0; k < n; k++)
        K.push_back(k > 20 ? k - k % 20 : k);
    shell.write("P.npy", npy("<i4", {501}, P));
    shell.write("K.npy", npy("<i4", {n}, K));
    const Shell::Result result =
        run(scaled_rows + body +
            "--array x=x.npy P=P.npy y=y.npy K=K.npy --output z:f32:500=z.npy --limit 4KiB");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto z = elements<float>(shell.read("z.npy"));
    for (size_t i = 0; i < 500; i++)
        EXPECT_EQ(z[i], x[2 * i] * y[static_cast<size_t>(K[2 * i])] +
                            x[2 * i + 1] * y[static_cast<size_t>(K[2 * i + 1])])
            << i;
    const std::string described = "--array x:f32:1000 y:f32:1000 z:f32:500 P=P.npy K=K.npy ";
    const std::string tool = in_build("tools/polytile ");
    const Shell::Result plan = shell.run(tool + "plan " + scaled_rows + described + "--limit 4KiB");
    EXPECT_EQ(plan.exit_code, 0) << plan.err;
    EXPECT_EQ(shell.run(tool + "check " + scaled_rows + described).exit_code, 0);
    K[7] = 1000;
    shell.write("K.npy", npy("<i4", {n}, K));
    const Shell::Result wrong = shell.run(tool + "check " + scaled_rows + described);
    EXPECT_EQ(wrong.exit_code, 2);
    EXPECT_NE(wrong.err.find("K[7] holds 1000"), std::string::npos) << wrong.err;
}

TEST_F(RunCommand, HelpsOnStandardOutput) {
    const Shell::Result result = run("--help");
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.out.rfind("Usage: polytile run", 0), 0u);
}

} // namespace
