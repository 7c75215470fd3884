#include "lib/meta/memory_of.h"

namespace apimesh::meta {
namespace {
constexpr std::size_t kAllocation = 16;  // overhead per allocation of malloc
constexpr std::size_t kMapNode = 96 + kAllocation;
}  // namespace

std::size_t MemoryOf(const std::vector<std::string>& texts) {
  std::size_t bytes = kAllocation;
  for (const std::string& text : texts) bytes += sizeof text + text.size() + kAllocation;
  return bytes;
}

std::size_t MemoryOf(const UserInfo& user) {
  std::size_t bytes = user.name.size() + user.uid.size() + 2 * kAllocation + MemoryOf(user.groups);
  for (const auto& [key, values] : user.extra) bytes += kMapNode + key.size() + MemoryOf(values);
  return bytes;
}

}  // namespace apimesh::meta
