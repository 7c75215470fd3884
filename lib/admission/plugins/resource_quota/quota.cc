#include "lib/admission/plugins/resource_quota/quota.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/admission/fields.h"
#include "lib/codec/codec.h"

namespace apimesh::admission::resource_quota {

QuotaPtr ReadQuota(ObjectPtr object) {
  auto quota = std::make_shared<Quota>();
  quota->name = object->Name();
  const std::string_view version = object->ResourceVersion();
  std::from_chars(version.data(), version.data() + version.size(), quota->version);
  const json::object& status = ObjectAt(object->Root(), "status");
  quota->hard = ReadAmounts(ObjectAt(status, "hard"));
  quota->used = ReadAmounts(ObjectAt(status, "used"));
  quota->scopes = RequirementsOf(SpecOf(*object));
  quota->object = std::move(object);
  return quota;
}

std::string WithUsage(const Quota& quota, const Amounts& used) {
  meta::Object changed = *quota.object;
  json::object& list = meta::MakeObject(meta::MakeObject(changed.Root(), "status"), "used");
  list.clear();
  for (const auto& [name, amount] : used) list[name] = amount.ToString();
  return codec::WriteJson(changed.Root());
}

std::string ToString(const Amounts& amounts) {
  std::vector<std::string> parts;
  for (const auto& [name, amount] : amounts) parts.push_back(fmt::format("{}={}", name, amount.ToString()));
  return fmt::format("{}", fmt::join(parts, ","));
}

std::string ToString(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return fmt::format("{}", fmt::join(names, ","));
}

}  // namespace apimesh::admission::resource_quota
