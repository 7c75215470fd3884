#include "lib/admission/plugins/namespace_exists/namespace_exists.h"

#include "lib/admission/fields.h"

namespace apimesh::admission {
namespace {

class NamespaceExists final : public Plugin {
 public:
  explicit NamespaceExists(ObjectsPtr objects) : objects_(std::move(objects)) {}

  bool Handles(Phase phase, const Attributes& attributes) const override {
    return phase == Phase::kValidate && attributes.operation != Operation::kConnect && !attributes.ns.empty() &&
           !IsResource(attributes, "", "namespaces");
  }

  Task<meta::Result<>> Validate(meta::RequestContext ctx, const Attributes& attributes) override {
    if (!objects_) co_return meta::InternalError("namespaces cannot be read here");
    const meta::Gvr namespaces{"", "v1", "namespaces"};
    const meta::Result<ObjectPtr> found =
        co_await objects_->Get(ctx, namespaces, "", attributes.ns, Read::kCachedElseNewest);
    if (found) co_return meta::Result<>();
    if (found.error().Is(meta::Reason::kNotFound)) co_return found.error();
    co_return meta::InternalError(found.error().Message());
  }

 private:
  const ObjectsPtr objects_;
};

}  // namespace

std::unique_ptr<Plugin> MakeNamespaceExists(const PluginInputs& inputs) {
  return std::make_unique<NamespaceExists>(inputs.objects);
}

}  // namespace apimesh::admission
