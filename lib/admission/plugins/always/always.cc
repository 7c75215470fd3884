#include "lib/admission/plugins/always/always.h"

namespace apimesh::admission {
namespace {

class AlwaysAdmit final : public Plugin {
 public:
  bool Handles(Phase, const Attributes&) const override { return false; }
};

class AlwaysDeny final : public Plugin {
 public:
  bool Handles(Phase phase, const Attributes&) const override { return phase == Phase::kMutate; }
  Task<meta::Result<>> Mutate(meta::RequestContext, Attributes& attributes) override {
    co_return Forbidden(attributes, "admission control is denying all modifications");
  }
};

}  // namespace

std::unique_ptr<Plugin> MakeAlwaysAdmit(const PluginInputs&) { return std::make_unique<AlwaysAdmit>(); }
std::unique_ptr<Plugin> MakeAlwaysDeny(const PluginInputs&) { return std::make_unique<AlwaysDeny>(); }

}  // namespace apimesh::admission
