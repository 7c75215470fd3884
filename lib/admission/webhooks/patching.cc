#include "lib/admission/webhooks/patching.h"

#include <algorithm>

#include <fmt/format.h>

#include "lib/admission/fields.h"
#include "lib/codec/codec.h"
#include "lib/patch/patch.h"

namespace apimesh::admission::webhooks {
namespace {

Patched Internal(std::string_view message) {
  Patched patched;
  patched.error = CallError{CallError::Type::kInternal, 0, meta::InternalError(message)};
  return patched;
}

Patched Undecodable(const Webhook& webhook, std::string_view why) {
  Patched patched;
  patched.error = CallFailed(webhook, fmt::format("received undecodable patch in webhook response: {}", why), 503);
  return patched;
}

/// Returns why a document is not a JSON patch, or "".
std::string ComplaintOf(const json::value& patch) {
  constexpr std::string_view kFormat = "json: cannot unmarshal {} into Go value of type {}";
  if (patch.is_null()) return "";
  if (!patch.is_array()) return fmt::format(fmt::runtime(kFormat), GoTypeName(patch), "jsonpatch.Patch");
  for (const json::value& operation : patch.get_array()) {
    if (!operation.is_object() && !operation.is_null())
      return fmt::format(fmt::runtime(kFormat), GoTypeName(operation), "jsonpatch.Operation");
  }
  return "";
}

}  // namespace

Patched ApplyPatch(const Webhook& webhook, const CallResult& answer, const Attributes& attributes,
                   const meta::Gvk& kind) {
  if (answer.response.patch.empty()) return {};
  meta::Result<json::value> patch = codec::ParseJson(answer.response.patch, meta::NewArena());
  if (!patch) return Undecodable(webhook, patch.error().Message());
  if (const std::string complaint = ComplaintOf(*patch); !complaint.empty()) return Undecodable(webhook, complaint);
  if (patch->is_null() || patch->get_array().empty()) return {};
  if (!attributes.object) {
    return Internal(
        fmt::format("admission webhook {} attempted to modify the object, which is not supported for this operation",
                    meta::Quoted(webhook.name)));
  }
  if (answer.response.patch_type != "JSONPatch") {
    Patched patched;
    patched.error =
        CallFailed(webhook, fmt::format("unsupported patch type {}", meta::Quoted(answer.response.patch_type)), 400);
    return patched;
  }
  meta::Result<json::value> document = codec::ParseJson(answer.object, meta::NewArena());
  if (!document) return Internal(document.error().Message());
  for (json::value& operation : patch->get_array()) {
    if (operation.is_null()) operation.emplace_object();
  }
  const std::optional<patch::JsonPatchFailure> failure = patch::ApplyJsonPatchOperations(*document, patch->get_array());
  if (failure) return Internal(failure->text);
  if (!document->is_object()) return Internal("the patched object is not an object");
  meta::Result<meta::Object> completed = attributes.versions->Complete(std::move(document->get_object()), kind);
  if (!completed) return Internal(completed.error().Message());
  Patched patched;
  patched.object = std::move(*completed);
  patched.operations = std::move(*patch);
  return patched;
}

std::string MutationAnnotation(const Webhook& webhook, bool mutated) {
  return codec::WriteJson(
      json::object{{"configuration", webhook.configuration}, {"webhook", webhook.name}, {"mutated", mutated}});
}

std::string PatchAnnotation(const Webhook& webhook, const json::value& operations) {
  json::array sorted;  // kube-apiserver keeps operations in maps, which it writes in alphabetical order
  for (const json::value& operation : operations.get_array()) {
    std::vector<std::pair<std::string_view, const json::value*>> members;
    if (operation.is_object()) {
      for (const auto& member : operation.get_object()) members.emplace_back(member.key(), &member.value());
    }
    std::sort(members.begin(), members.end());
    json::object& made = sorted.emplace_back(json::object()).get_object();
    for (const auto& [key, value] : members) made.emplace(key, *value);
  }
  return codec::WriteJson(json::object{{"configuration", webhook.configuration},
                                       {"webhook", webhook.name},
                                       {"patch", std::move(sorted)},
                                       {"patchType", "JSONPatch"}});
}

}  // namespace apimesh::admission::webhooks
