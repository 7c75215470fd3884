#include <gtest/gtest.h>

#include "services/core-api/groups/core/pod/pod.h"
#include "services/core-api/groups/kind_inputs.h"
#include "services/core-api/groups/testing.h"
#include "services/core-api/resources/generic.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own

/// Returns the errors of a write of pods/resize, or "ok GENERATION".
std::string Resized(const std::string& old_spec, const std::string& spec, const std::string& old_more = "") {
  registry::Resource resource = PodResource({});
  const registry::StrategyPtr strategy = SubresourceOf(resource, "resize").strategy;
  const auto make = [&](const std::string& text, const std::string& more) {
    return Defaulted(resource,
                     R"({"metadata":{"name":"p","namespace":"n","generation":3)" + more + R"(},"spec":)" + text + "}");
  };
  meta::Object old = make(old_spec, old_more), pod = make(spec, "");
  meta::MakeObject(old.Root(), "status");
  strategy->PrepareForUpdate({}, pod, old);
  const meta::FieldErrors errors = strategy->ValidateUpdate({}, pod, old);
  if (errors.empty()) return "ok " + std::to_string(pod.Generation());
  std::string text;
  for (const meta::FieldError& error : errors) text += error.field + ": " + error.Message() + "\n";
  return text;
}

constexpr const char* kOld = R"({"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]})";

TEST(Resize, ChangesCpuAndMemoryOnly) {
  EXPECT_EQ(Resized(kOld, R"({"containers":[{"name":"c","image":"other","resources":{"requests":{"cpu":"2"}}}]})"),
            "ok 4");
  EXPECT_EQ(Resized(kOld, kOld), "ok 3");
  EXPECT_EQ(
      Resized(
          kOld,
          R"({"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1","ephemeral-storage":"1"}}}]})"),
      "spec: Forbidden: only cpu and memory resources are mutable\n");
  EXPECT_EQ(Resized(kOld, R"({"containers":[{"name":"c","image":"i"}]})"),
            "spec: Invalid value: \"\": Pod QOS Class may not change as a result of resizing\n"
            "spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed\n");
  EXPECT_EQ(Resized(kOld, R"({"containers":[{"name":"d","image":"i","resources":{"requests":{"cpu":"1"}}}]})"),
            "spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize\n");
  EXPECT_EQ(
      Resized(
          kOld,
          R"({"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}},{"name":"d","image":"i"}]})"),
      "spec.containers: Forbidden: containers may not be added or removed on resize\n");
}

TEST(Resize, RefusesStaticPods) {
  EXPECT_EQ(Resized(kOld, kOld, R"(,"annotations":{"kubernetes.io/config.mirror":"x"})"),
            "[]: Forbidden: static pods cannot be resized\n");
}

}  // namespace
}  // namespace apimesh::core_api
