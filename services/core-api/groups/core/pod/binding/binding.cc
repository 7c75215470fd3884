#include "services/core-api/groups/core/pod/binding/binding.h"

#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/meta/errors/other_errors.h"
#include "lib/schema/builtin.h"
#include "services/core-api/features/rule_features.h"
#include "services/core-api/groups/core/pod/conditions.h"
#include "services/core-api/groups/kind_inputs.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/check.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;
using Store = storage::Store;

/// In kube-apiserver, errors of a binding are plain errors without a reason.
meta::Result<> CheckTarget(const meta::Object& binding) {
  static const json::object kNone;
  const json::value* target = meta::FindField(binding.Root(), "target");
  meta::FieldErrors errors;
  const Check check(target && target->is_object() ? target->get_object() : kNone, meta::Path("target"), errors);
  check.OneOf("kind", {"Node", "<empty>"});
  check.Require("name");
  if (errors.empty()) return {};
  std::string message;
  for (const meta::FieldError& error : errors)
    message += (message.empty() ? "" : ", ") + error.field + ": " + error.Message();
  return meta::PlainError(errors.size() > 1 ? "[" + message + "]" : message);
}

void CopyTexts(const meta::Object& from, meta::Object& to, std::string_view field) {
  const json::value* texts = meta::FindField(from.Metadata(), field);
  if (!texts || !texts->is_object() || texts->get_object().empty()) return;
  json::object& target = meta::MakeObject(to.Metadata(), field);
  for (const auto& [key, text] : texts->get_object()) target[key] = text;
}

std::string WhyNot(const meta::Object& pod) {
  if (!pod.DeletionTimestamp().empty())
    return fmt::format("pod {} is being deleted, cannot be assigned to a host", pod.Name());
  const std::string_view node = meta::FindString(pod.Root(), "spec", "nodeName");
  if (!node.empty()) return fmt::format("pod {} is already assigned to node {}", pod.Name(), meta::Quoted(node));
  if (!Objects(meta::Find(pod.Root(), "spec", "schedulingGates")).empty()) {
    return fmt::format("pod {} has non-empty .spec.schedulingGates", pod.Name());
  }
  return "";
}

Task<meta::Result<std::optional<Store::Update>>> Assign(std::shared_ptr<const meta::Object> binding, const Clock& clock,
                                                        const meta::Object* current) {
  meta::Object pod = *current;
  if (const std::string why = WhyNot(pod); !why.empty())
    co_return meta::Conflict({"", "pods/binding"}, pod.Name(), why);
  meta::MakeObject(pod.Root(), "spec")["nodeName"] = meta::FindString(binding->Root(), "target", "name");
  const RuleFeatures& features = ActiveRuleFeatures();
  json::value* status = meta::FindField(pod.Root(), "status");
  if (features.clearing_nominated_node_name_after_binding && status && status->is_object()) {
    meta::EraseField(status->get_object(), "nominatedNodeName");
  }
  CopyTexts(*binding, pod, "annotations");
  if (features.pod_topology_labels_admission) CopyTexts(*binding, pod, "labels");
  SetTrueCondition(pod, "PodScheduled", "", "", clock.Now());
  CO_RETURN_IF_ERROR(codec::Normalise(pod.Root(), *schema::Builtin().FindKind({"", "v1", "Pod"}), nullptr));
  co_return std::optional<Store::Update>(Store::Update{std::move(pod), {}});
}

Task<meta::Result<meta::Object>> Bind(storage::StorePtr pods, const Clock& clock, meta::RequestContext ctx,
                                      std::string name, meta::Object body, bool dry_run) {
  if (name.empty()) name = std::string(body.Name());
  if (name != body.Name()) co_return meta::BadRequest("name in URL does not match name in Binding object");
  CO_RETURN_IF_ERROR(CheckTarget(body));
  ASSIGN_OR_CO_RETURN(const storage::Key key, storage::KeyFor(true, ctx.Info().ns, name));
  storage::Preconditions preconditions;
  if (!body.Uid().empty()) preconditions.uid = std::string(body.Uid());
  if (!body.ResourceVersion().empty()) preconditions.resource_version = std::string(body.ResourceVersion());
  const auto binding = std::make_shared<const meta::Object>(std::move(body));
  if (dry_run) {
    const storage::GetOptions newest;
    ASSIGN_OR_CO_RETURN(const storage::EntryPtr entry, co_await pods->Get(ctx, key, newest));
    ASSIGN_OR_CO_RETURN(const json::value value, codec::ParseJson(entry->Json().View(), meta::NewArena()));
    const meta::Object pod(value.get_object());
    if (const std::string why = WhyNot(pod); !why.empty()) co_return meta::Conflict({"", "pods/binding"}, name, why);
  } else {
    const Store::UpdateFn update = [binding, &clock](const meta::Object* current) {
      return Assign(binding, clock, current);
    };
    const meta::Result<Store::UpdateResult> result =
        co_await pods->GuaranteedUpdate(ctx, key, preconditions, false, update);
    if (!result) co_return result.error();
  }
  co_return meta::Object(json::object{
      {"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", json::object()}, {"status", "Success"}, {"code", 201}});
}

}  // namespace

registry::Action BindingAction(storage::StorePtr pods, const Clock* clock) {
  return [pods = std::move(pods), clock](meta::RequestContext ctx, std::string name, meta::Object body, bool dry_run) {
    return Bind(pods, *clock, std::move(ctx), std::move(name), std::move(body), dry_run);
  };
}

registry::Resource BindingResource(const KindInputs& inputs) {
  registry::Resource resource = FromTable("", "v1", "bindings");
  resource.create = BindingAction(inputs.StoreOf({"", "v1", "pods"}), inputs.clock);
  return resource;
}

}  // namespace apimesh::core_api
