#include "lib/admission/plugins/namespace_auto_provision/namespace_auto_provision.h"

#include <boost/json/serialize.hpp>

#include "lib/admission/fields.h"

namespace apimesh::admission {
namespace {

class NamespaceAutoProvision final : public Plugin {
 public:
  NamespaceAutoProvision(ObjectsPtr objects, SendRequest send) : objects_(std::move(objects)), send_(std::move(send)) {}

  bool Handles(Phase phase, const Attributes& attributes) const override {
    return phase == Phase::kMutate && attributes.operation == Operation::kCreate && !attributes.dry_run &&
           !attributes.ns.empty() && !IsResource(attributes, "", "namespaces");
  }

  Task<meta::Result<>> Mutate(meta::RequestContext ctx, Attributes& attributes) override {
    if (!objects_ || !send_) co_return Forbidden(attributes, "namespaces cannot be created here");
    const meta::Gvr namespaces{"", "v1", "namespaces"};
    const meta::Result<ObjectPtr> found = co_await objects_->Get(ctx, namespaces, "", attributes.ns, Read::kCached);
    if (found) co_return meta::Result<>();
    if (!found.error().Is(meta::Reason::kNotFound)) co_return Forbidden(attributes, found.error().Message());
    const json::object body = {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", attributes.ns}}}};
    std::string text = boost::json::serialize(body);
    const meta::Result<meta::Object> created = co_await send_("POST", "/api/v1/namespaces", std::move(text));
    if (!created && !created.error().Is(meta::Reason::kAlreadyExists))
      co_return Forbidden(attributes, created.error().Message());
    co_return meta::Result<>();
  }

 private:
  const ObjectsPtr objects_;
  const SendRequest send_;
};

}  // namespace

std::unique_ptr<Plugin> MakeNamespaceAutoProvision(const PluginInputs& inputs) {
  return std::make_unique<NamespaceAutoProvision>(inputs.objects, inputs.send);
}

}  // namespace apimesh::admission
