#include "lib/admission/plugins/default_toleration_seconds/default_toleration_seconds.h"

#include "lib/admission/fields.h"

namespace apimesh::admission {
namespace {

using meta::FindString;

constexpr std::string_view kNotReady = "node.kubernetes.io/not-ready";
constexpr std::string_view kUnreachable = "node.kubernetes.io/unreachable";

/// Returns whether the pod says what happens on nodes with the taint `key:NoExecute`. A toleration without a key or
/// without an effect matches all of them.
bool Tolerates(const json::object& spec, std::string_view key) {
  return AnyOf(ListAt(spec, "tolerations"), [key](const json::object& toleration) {
    const std::string_view its_key = FindString(toleration, "key"), effect = FindString(toleration, "effect");
    return (its_key.empty() || its_key == key) && (effect.empty() || effect == "NoExecute");
  });
}

void Add(json::object& spec, std::string_view key, int seconds) {
  MakeList(spec, "tolerations")
      .push_back({{"key", key}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", seconds}});
}

class DefaultTolerationSeconds final : public Plugin {
 public:
  explicit DefaultTolerationSeconds(const TolerationFlags& seconds) : seconds_(seconds) {}

  bool Handles(Phase phase, const Attributes& attributes) const override {
    return phase == Phase::kMutate && IsPod(attributes) &&
           (attributes.operation == Operation::kCreate || attributes.operation == Operation::kUpdate);
  }

  Task<meta::Result<>> Mutate(meta::RequestContext, Attributes& attributes) override {
    json::object& spec = SpecOf(*attributes.object);
    const bool not_ready = Tolerates(spec, kNotReady), unreachable = Tolerates(spec, kUnreachable);
    if (!not_ready) Add(spec, kNotReady, seconds_.not_ready_seconds);
    if (!unreachable) Add(spec, kUnreachable, seconds_.unreachable_seconds);
    co_return meta::Result<>();
  }

 private:
  const TolerationFlags seconds_;
};

}  // namespace

std::unique_ptr<Plugin> MakeDefaultTolerationSeconds(const PluginInputs& inputs) {
  return std::make_unique<DefaultTolerationSeconds>(inputs.tolerations);
}

}  // namespace apimesh::admission
