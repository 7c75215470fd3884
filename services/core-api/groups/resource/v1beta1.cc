#include "services/core-api/groups/resource/v1beta1.h"

#include <algorithm>

#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

/// Moves all fields of `from` that are not in `keep` into `to`.
template <std::size_t N>
void MoveFields(json::object& from, json::object& to, const std::string_view (&keep)[N]) {
  for (auto& member : from) {
    const std::string_view name = member.key();
    if (std::find(std::begin(keep), std::end(keep), name) == std::end(keep))
      to[member.key()] = std::move(member.value());
  }
  meta::EraseFields(from, [&keep](std::string_view name, const json::value&) {
    return std::find(std::begin(keep), std::end(keep), name) == std::end(keep);
  });
}

/// Moves the fields of the object at `field`, if there is one, into `holder` itself.
void Unwrap(json::object& holder, std::string_view field) {
  json::value* inner = meta::FindField(holder, field);
  if (!inner || !inner->is_object()) return;
  json::object fields = std::move(inner->get_object());
  meta::EraseField(holder, field);
  for (auto& member : fields) holder[member.key()] = std::move(member.value());
}

constexpr std::string_view kOfRequest[] = {"name", "firstAvailable", "exactly"};
constexpr std::string_view kOfDevice[] = {"name", "basic"};

void RequestsToV1(json::value* spec) {
  if (!spec || !spec->is_object()) return;
  for (json::object& request : Objects(meta::Find(spec->get_object(), "devices", "requests"))) {
    // v1beta1 always writes this field.
    if (meta::FindString(request, "deviceClassName").empty()) meta::EraseField(request, "deviceClassName");
    json::object exactly(request.storage());
    MoveFields(request, exactly, kOfRequest);
    if (!exactly.empty()) request["exactly"] = std::move(exactly);
  }
}

void RequestsToV1beta1(json::value* spec) {
  if (!spec || !spec->is_object()) return;
  for (json::object& request : Objects(meta::Find(spec->get_object(), "devices", "requests")))
    Unwrap(request, "exactly");
}

void SliceToV1(json::object& document) {
  json::value* spec = meta::FindField(document, "spec");
  if (!spec || !spec->is_object()) return;
  // These two are pointers in v1, where an empty value is not the same as none.
  if (meta::FindString(spec->get_object(), "nodeName").empty()) meta::EraseField(spec->get_object(), "nodeName");
  const json::value* all_nodes = meta::FindField(spec->get_object(), "allNodes");
  if (all_nodes && *all_nodes == false) meta::EraseField(spec->get_object(), "allNodes");
  for (json::object& device : Objects(meta::FindField(spec->get_object(), "devices"))) Unwrap(device, "basic");
}

void SliceToV1beta1(json::object& document) {
  for (json::object& device : Objects(meta::Find(document, "spec", "devices"))) {
    json::object basic(device.storage());
    MoveFields(device, basic, kOfDevice);
    device["basic"] = std::move(basic);
  }
}

}  // namespace

VersionConversion ClaimV1beta1() {
  return {[](json::object& document) { RequestsToV1(meta::FindField(document, "spec")); },
          [](json::object& document) { RequestsToV1beta1(meta::FindField(document, "spec")); }};
}

VersionConversion ClaimTemplateV1beta1() {
  return {[](json::object& document) { RequestsToV1(meta::Find(document, "spec", "spec")); },
          [](json::object& document) { RequestsToV1beta1(meta::Find(document, "spec", "spec")); }};
}

VersionConversion SliceV1beta1() { return {&SliceToV1, &SliceToV1beta1}; }

}  // namespace apimesh::core_api
