// Measures the cost of tracking field ownership per write. Prints microseconds of CPU per operation.
#include <chrono>
#include <cstdio>
#include <string>

#include <time.h>

#include "lib/meta/time.h"
#include "lib/patch/apply/managed_fields.h"
#include "lib/schema/builtin.h"

namespace {

using namespace apimesh;
namespace json = meta::json;

meta::Object ConfigMap(const char* value) {
  return meta::Object(
      json::parse(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default","uid":"u",
      "labels":{"app":"x","tier":"y"}},"data":{"one":"1","two":"2","three":")" +
                  std::string(value) + R"("}})")
          .as_object());
}

/// About 6 KB: three containers with environment, ports, probes and resources, volumes, status.
meta::Object Pod(int image) {
  json::object pod =
      json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default","uid":"u",
      "labels":{"app":"x"},"annotations":{"a":"b"}},"spec":{"nodeName":"n","restartPolicy":"Always","dnsPolicy":"ClusterFirst",
      "terminationGracePeriodSeconds":30,"schedulerName":"s","securityContext":{},"tolerations":[{"key":"k","operator":"Exists"}]},
      "status":{"phase":"Running","podIP":"10.0.0.1"}})")
          .as_object();
  json::object& spec = pod["spec"].as_object();
  json::array& containers = spec["containers"].emplace_array();
  for (int i = 0; i < 3; ++i) {
    json::object container = json::parse(R"({"imagePullPolicy":"Always","command":["/bin/app","--flag"],
        "ports":[{"name":"http","containerPort":8080,"protocol":"TCP"},{"name":"m","containerPort":9090,"protocol":"TCP"}],
        "resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"100m","memory":"128Mi"}},
        "livenessProbe":{"httpGet":{"path":"/healthz","port":8080,"scheme":"HTTP"},"periodSeconds":10,"timeoutSeconds":1},
        "volumeMounts":[{"name":"v0","mountPath":"/v0"},{"name":"v1","mountPath":"/v1","readOnly":true}],
        "terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"})")
                                 .as_object();
    container["name"] = "container-" + std::to_string(i);
    container["image"] = "registry/app:" + std::to_string(image);
    json::array& env = container["env"].emplace_array();
    for (int j = 0; j < 12; ++j) {
      env.push_back(
          {{"name", "VARIABLE_" + std::to_string(j)}, {"value", "some value of the variable " + std::to_string(j)}});
    }
    containers.push_back(std::move(container));
  }
  json::array& volumes = spec["volumes"].emplace_array();
  for (int i = 0; i < 4; ++i)
    volumes.push_back({{"name", "v" + std::to_string(i)}, {"configMap", {{"name", "c"}, {"defaultMode", 420}}}});
  json::array& conditions = pod["status"].as_object()["conditions"].emplace_array();
  for (const char* type : {"Ready", "Initialized", "PodScheduled", "ContainersReady"}) {
    conditions.push_back({{"type", type}, {"status", "True"}, {"lastTransitionTime", "2026-01-01T00:00:00Z"}});
  }
  return meta::Object(std::move(pod));
}

/// Returns the CPU time of this thread, so that other load on the machine does not count.
std::chrono::nanoseconds CpuTime() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

template <class Run>
void Measure(const char* name, Run run) {
  constexpr int kRounds = 2000;
  std::chrono::nanoseconds total{0};
  for (int i = 0; i < kRounds; ++i) total += run();
  std::printf("%-28s %8.1f us\n", name, static_cast<double>(total.count()) / kRounds / 1000);
}

std::chrono::nanoseconds Update(const meta::Object* live, const meta::Object& given, const schema::Node& node,
                                const char* manager) {
  meta::Object updated(json::object(given.Root(), meta::NewArena()));
  patch::ManagerInfo info{manager, "v1", "", WallTime(std::chrono::seconds(1'700'000'000)), {}};
  static const patch::ResetFields reset = {"status"};
  const auto start = CpuTime();
  (void)patch::UpdateManagedFields(live, updated, node, info, reset);
  return CpuTime() - start;
}

void MeasureKind(const std::string& kind, const meta::Object& first, const meta::Object& second,
                 const schema::Node& node) {
  const patch::ManagerInfo info{"creator", "v1", "", WallTime(std::chrono::seconds(1'600'000'000)), {}};
  meta::Object live = first;
  (void)patch::UpdateManagedFields(nullptr, live, node, info, {"status"});
  meta::Object changed = second;
  changed.Metadata()["managedFields"] = live.Metadata().at("managedFields");
  std::printf("%s: %zu bytes\n", kind.c_str(), json::serialize(live.Root()).size());
  Measure("  create", [&] { return Update(nullptr, first, node, "creator"); });
  Measure("  update, nothing changed", [&] { return Update(&live, live, node, "creator"); });
  Measure("  update, same manager", [&] { return Update(&live, changed, node, "creator"); });
  Measure("  update, other manager", [&] { return Update(&live, changed, node, "other"); });
  const meta::Object applied(
      json::parse(R"({"apiVersion":"v1","kind":")" + kind + R"(","metadata":{"name":"a","labels":{"z":"1"}}})")
          .as_object());
  Measure("  apply one label", [&] {
    const patch::ManagerInfo applier{"applier", "v1", "", WallTime(std::chrono::seconds(1'700'000'000)), {}};
    const auto start = CpuTime();
    (void)patch::Apply(live, applied, node, applier, false, {"status"});
    return CpuTime() - start;
  });
}

}  // namespace

int main() {
  const schema::Schema& schema = schema::Builtin();
  MeasureKind("ConfigMap", ConfigMap("3"), ConfigMap("4"), *schema.Find("io.k8s.api.core.v1.ConfigMap"));
  MeasureKind("Pod", Pod(1), Pod(2), *schema.Find("io.k8s.api.core.v1.Pod"));
}
