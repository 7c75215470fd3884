#include "lib/service/diagnostics/cpu_profiler.h"

#include <atomic>

#include <gtest/gtest.h>

#include "lib/service/diagnostics/symbols.h"

namespace apimesh::service {

std::atomic<std::uint64_t> sink{0};

__attribute__((noinline)) void SpinForTheProfile() {
  for (int i = 0; i < 1'000'000; ++i) sink.fetch_add(1, std::memory_order_relaxed);
}

namespace {

bool Names(const CpuSamples& samples, std::string_view function) {
  Symbols symbols;
  for (const auto& [stack, count] : samples.stacks) {
    for (const std::uintptr_t address : stack) {
      if (symbols.NameOf(address) == function) return true;
    }
  }
  return false;
}

TEST(CpuSampling, NamesTheFunctionThatRuns) {
  CpuSamples samples;
  // A busy machine may give this process no time for a while.
  for (int i = 0; i < 100 && !Names(samples, "apimesh::service::SpinForTheProfile"); ++i) {
    ASSERT_TRUE(StartCpuSampling());
    EXPECT_FALSE(StartCpuSampling()) << "only one profile at a time";
    for (int j = 0; j < 50; ++j) SpinForTheProfile();
    samples = StopCpuSampling();
  }
  EXPECT_TRUE(Names(samples, "apimesh::service::SpinForTheProfile"));
  EXPECT_EQ(samples.lost, 0u);
}

TEST(WithoutParameters, KeepsTheNameOfTheFunction) {
  EXPECT_EQ(WithoutParameters("a::F(int, b<c>) const"), "a::F");
  EXPECT_EQ(WithoutParameters("a::(anonymous namespace)::F(std::function<void (int)>)"), "a::(anonymous namespace)::F");
  EXPECT_EQ(WithoutParameters("a::F(int)::{lambda(int)#1}::operator()(int) const"),
            "a::F(int)::{lambda(int)#1}::operator()");
  EXPECT_EQ(WithoutParameters("a::F(a::Frame*) [clone .actor]"), "a::F [clone .actor]");
  EXPECT_EQ(WithoutParameters("a::(anonymous namespace)::value"), "a::(anonymous namespace)::value");
  EXPECT_EQ(WithoutParameters("main"), "main");
}

}  // namespace
}  // namespace apimesh::service
