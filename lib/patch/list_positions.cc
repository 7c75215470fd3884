#include "lib/patch/list_positions.h"

#include <algorithm>
#include <optional>

#include "lib/meta/json_text.h"

namespace apimesh::patch {

namespace json = meta::json;

std::string IdentityOf(const json::value& item, std::string_view key) {
  std::string identity;
  const bool by_key = !key.empty() && item.is_object();
  const json::value* value = by_key ? meta::FindField(item.get_object(), key) : &item;
  if (value) meta::AppendJsonText(identity, *value);
  return identity;
}

void Positions::Add(const json::value& item, std::size_t position) {
  const std::string identity = IdentityOf(item, key_);
  if (identity.empty() || !identities_.Add(arena_.Keep(identity)).is_new) return;
  first_.push_back(static_cast<std::uint32_t>(position));
}

std::ptrdiff_t Positions::Find(const json::value& item) const {
  const std::optional<std::size_t> found = identities_.Find(IdentityOf(item, key_));
  return found ? static_cast<std::ptrdiff_t>(first_[*found]) : -1;
}

json::array Reorder(json::array merged, const Positions& patch_order, const Positions& server_order) {
  struct Placed {
    json::value* item;
    std::ptrdiff_t at_server;
    std::ptrdiff_t at_patch;
  };
  std::vector<Placed> from_patch;
  std::vector<Placed> server_only;
  for (json::value& item : merged) {
    const std::ptrdiff_t at_patch = patch_order.Find(item);
    const std::ptrdiff_t at_server = server_order.Find(item);
    (at_patch >= 0 ? from_patch : server_only).push_back({&item, at_server, at_patch});
  }
  std::stable_sort(from_patch.begin(), from_patch.end(),
                   [](const Placed& a, const Placed& b) { return a.at_patch < b.at_patch; });
  std::stable_sort(server_only.begin(), server_only.end(),
                   [](const Placed& a, const Placed& b) { return a.at_server < b.at_server; });
  json::array out(merged.storage());
  out.reserve(merged.size());
  std::size_t left = 0;
  std::size_t right = 0;
  while (left < server_only.size() || right < from_patch.size()) {
    bool take_left = right >= from_patch.size();
    if (!take_left && left < server_only.size()) {
      const std::ptrdiff_t a = server_only[left].at_server;
      const std::ptrdiff_t b = from_patch[right].at_server;
      take_left = a >= 0 && b >= 0 && a < b;
    }
    out.push_back(std::move(take_left ? *server_only[left++].item : *from_patch[right++].item));
  }
  return out;
}

}  // namespace apimesh::patch
