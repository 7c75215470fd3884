#include "lib/meta/request/verb.h"

#include <iterator>

namespace apimesh::meta {
namespace {

constexpr std::string_view kNames[] = {"",     "create", "delete", "deletecollection", "get",
                                       "list", "patch",  "proxy",  "update",           "watch"};
static_assert(std::size(kNames) == static_cast<std::size_t>(Verb::kWatch) + 1);

}  // namespace

std::string_view ToString(Verb verb) { return kNames[static_cast<std::size_t>(verb)]; }

Verb VerbFromString(std::string_view text) {
  for (std::size_t i = 1; i < std::size(kNames); ++i) {
    if (kNames[i] == text) return static_cast<Verb>(i);
  }
  return Verb::kOther;
}

std::vector<std::string_view> VerbSet::Names() const {
  std::vector<std::string_view> names;
  for (std::size_t i = 1; i < std::size(kNames); ++i) {
    if (contains(static_cast<Verb>(i))) names.push_back(kNames[i]);
  }
  return names;
}

}  // namespace apimesh::meta
