#include "lib/admission/tolerations.h"

#include <algorithm>

#include "lib/admission/fields.h"

namespace apimesh::admission {
namespace {

constexpr std::size_t kMaxCompared = 1000;

bool AreEqual(const json::object& a, const json::object& b) {
  static constexpr std::string_view kTexts[] = {"key", "operator", "value", "effect"};
  return NumberAt(a, "tolerationSeconds") == NumberAt(b, "tolerationSeconds") &&
         std::all_of(std::begin(kTexts), std::end(kTexts),
                     [&](std::string_view field) { return meta::FindString(a, field) == meta::FindString(b, field); });
}

}  // namespace

bool IsSuperset(const json::object& toleration, const json::object& other) {
  using meta::FindString;
  if (AreEqual(toleration, other)) return true;
  const std::string_view key = FindString(toleration, "key"), its_operator = FindString(toleration, "operator");
  const bool any_key = key.empty() && its_operator == "Exists";
  if (FindString(other, "key") != key && !any_key) return false;
  const std::string_view effect = FindString(toleration, "effect");
  if (FindString(other, "effect") != effect && !effect.empty()) return false;
  if (effect == "NoExecute") {
    const std::optional<std::int64_t> seconds = NumberAt(toleration, "tolerationSeconds"),
                                      other_seconds = NumberAt(other, "tolerationSeconds");
    if (seconds && (!other_seconds || *other_seconds > *seconds)) return false;
  }
  if (its_operator == "Exists") return true;
  if (!its_operator.empty() && its_operator != "Equal") return false;
  return FindString(other, "operator") == "Equal" && FindString(other, "value") == FindString(toleration, "value");
}

void MergeTolerations(json::object& spec, const json::array& more) {
  json::array all(ListAt(spec, "tolerations"), spec.storage());
  all.insert(all.end(), more.begin(), more.end());
  if (all.size() > kMaxCompared) {
    spec["tolerations"] = std::move(all);
    return;
  }
  json::array merged(spec.storage());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].is_object()) continue;
    const json::object& toleration = all[i].get_object();
    const auto includes = [&toleration](const json::object& other) { return IsSuperset(other, toleration); };
    bool included = AnyOf(merged, includes);
    for (std::size_t j = i + 1; j < all.size() && !included; ++j) {
      included = all[j].is_object() && !AreEqual(toleration, all[j].get_object()) && includes(all[j].get_object());
    }
    if (!included) merged.push_back(all[i]);
  }
  spec["tolerations"] = std::move(merged);
}

}  // namespace apimesh::admission
