#include "lib/admission/plugins/node_restriction/claim_rules.h"

#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/admission/plugins/node_restriction/fields.h"
#include "lib/admission/plugins/node_restriction/refuse.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::admission::node_restriction {
namespace {

namespace json = meta::json;

/// The status fields that a resize changes. The last two belong to RecoverVolumeExpansionFailure, which is always on in
/// v1.36.
constexpr std::string_view kStatusFields[] = {"capacity", "conditions", "allocatedResourceStatuses",
                                              "allocatedResources"};

/// Returns the claim without the fields that a node may change and those that differ in every update.
json::object Remainder(const meta::Object& claim) {
  json::object rest = claim.Root();
  if (json::value* metadata = meta::FindField(rest, "metadata"); metadata && metadata->is_object()) {
    meta::EraseField(metadata->get_object(), "resourceVersion");  // an update without one is unconditional
    meta::EraseField(metadata->get_object(), "managedFields");
  }
  json::object& status = meta::MakeObject(rest, "status");
  for (const std::string_view field : kStatusFields) meta::EraseField(status, field);
  // This is the API default. A stored claim may lack it, a decoded one has it.
  if (meta::FindString(status, "phase").empty()) status["phase"] = "Pending";
  return rest;
}

/// Returns the sorted paths of the fields at the first two levels that differ.
std::set<std::string> ChangedFields(const json::object& a, const json::object& b, const std::string& prefix = "") {
  std::set<std::string> changed;
  for (const json::object* one : {&a, &b}) {
    for (const auto& field : *one) {
      const json::value *left = a.if_contains(field.key()), *right = b.if_contains(field.key());
      if (SemanticallyEqual(left, right)) continue;
      const std::string path = prefix + std::string(field.key());
      if (prefix.empty() && left && right && left->is_object() && right->is_object()) {
        changed.merge(ChangedFields(left->get_object(), right->get_object(), path + "."));
      } else {
        changed.insert(path);
      }
    }
  }
  return changed;
}

}  // namespace

meta::Result<> CheckClaim(const std::string& node, const Attributes& attributes) {
  if (attributes.subresource != "status") return Forbidden(attributes, "may only update PVC status");
  if (attributes.operation != Operation::kUpdate) {
    return Refuse(attributes, "unexpected operation {}", meta::Quoted(ToString(attributes.operation)));
  }
  const std::set<std::string> changed = ChangedFields(Remainder(*attributes.old_object), Remainder(*attributes.object));
  if (changed.empty()) return {};
  return Refuse(attributes,
                "node {} is not allowed to update fields other than status.quantity and status.conditions: {}",
                meta::Quoted(node), fmt::join(changed, ", "));
}

}  // namespace apimesh::admission::node_restriction
