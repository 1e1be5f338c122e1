#include <gtest/gtest.h>

#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

extern "C" {
#include "launch/cuda/runtime/nvtx.h"
}

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>

namespace {

/** What a tool that listens is told, by all threads. */
std::vector<std::string> told;
std::mutex telling;
std::string domain_name;

nvtxDomainHandle_t create_domain(const char *name) {
    static char handle;
    domain_name = name;
    return reinterpret_cast<nvtxDomainHandle_t>(&handle);
}

int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *range) {
    EXPECT_NE(domain, nullptr);
    EXPECT_EQ(range->messageType, NVTX_MESSAGE_TYPE_ASCII);
    const std::lock_guard<std::mutex> alone(telling);
    told.push_back(std::string("push ") + range->message.ascii);
    return 0;
}

int pop(nvtxDomainHandle_t domain) {
    EXPECT_NE(domain, nullptr);
    const std::lock_guard<std::mutex> alone(telling);
    told.push_back("pop");
    return 0;
}

template <typename Function> void listen(NvtxFunctionTable table, int id, Function *function) {
    *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

int start_tool(NvtxGetExportTableFunc_t get_table) {
    NvtxFunctionTable table = nullptr;
    unsigned n_functions = 0;
    const auto *callbacks =
        static_cast<const NvtxExportTableCallbacks *>(get_table(NVTX_ETID_CALLBACKS));
    if (callbacks == nullptr ||
        callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &n_functions) == 0 ||
        n_functions <= NVTX_CBID_CORE2_DomainCreateA)
        return 0;
    listen(table, NVTX_CBID_CORE2_DomainCreateA, create_domain);
    listen(table, NVTX_CBID_CORE2_DomainRangePushEx, push);
    listen(table, NVTX_CBID_CORE2_DomainRangePop, pop);
    return 1;
}

/** The tool that is part of this program; the header has this place for it. It is set before
 * main(), since NVTX looks there at the first call of the process. */
const bool has_tool = (InitializeInjectionNvtx2_fnptr = start_tool) != nullptr;

TEST(CudaNvtx, ToolsSeeRangesInTheLibrarysDomain) {
    ASSERT_TRUE(has_tool);
    if (getenv("NVTX_INJECTION64_PATH") != nullptr)
        GTEST_SKIP() << "another tool listens";
    told.clear();
    pti_nvtx_push("run add");
    pti_nvtx_push("superblock 1");
    pti_nvtx_pop();
    pti_nvtx_pop();
    EXPECT_EQ(domain_name, "polytile");
    EXPECT_EQ(told, (std::vector<std::string>{"push run add", "push superblock 1", "pop", "pop"}));
}

} // namespace
#endif
