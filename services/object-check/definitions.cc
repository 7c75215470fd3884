#include "services/object-check/definitions.h"

#include "lib/codec/codec.h"
#include "lib/meta/errors/other_errors.h"
#include "lib/meta/object.h"

namespace apimesh::object_check {
namespace {

namespace json = meta::json;

std::string TextOf(const json::value* value) {
  return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

}  // namespace

meta::Result<> Definitions::Add(std::string_view stored) {
  ASSIGN_OR_RETURN(const json::value document, codec::ParseJson(stored, meta::NewArena()));
  if (!document.is_object()) return meta::PlainError("a definition is not a JSON object");
  const json::object& root = document.get_object();
  const std::string group = TextOf(meta::Find(root, "spec", "group"));
  const std::string plural = TextOf(meta::Find(root, "spec", "names", "plural"));
  CustomResource custom;
  custom.kind = TextOf(meta::Find(root, "spec", "names", "kind"));
  custom.namespaced = TextOf(meta::Find(root, "spec", "scope")) == "Namespaced";
  // v1beta1 has one version without a list, too.
  if (std::string version = TextOf(meta::Find(root, "spec", "version")); !version.empty())
    custom.versions.insert(std::move(version));
  if (const json::value* versions = meta::Find(root, "spec", "versions"); versions && versions->is_array()) {
    for (const json::value& version : versions->get_array())
      if (version.is_object()) custom.versions.insert(TextOf(meta::FindField(version.get_object(), "name")));
  }
  if (group.empty() || plural.empty()) return meta::PlainError("a definition has no group or no plural name");
  all_.insert_or_assign(group + "/" + plural, std::move(custom));
  return {};
}

const Definitions::CustomResource* Definitions::Find(std::string_view group_and_plural) const {
  const auto found = all_.find(group_and_plural);
  return found == all_.end() ? nullptr : &found->second;
}

}  // namespace apimesh::object_check
