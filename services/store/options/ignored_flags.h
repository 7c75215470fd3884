#pragma once

#include <string_view>

namespace apimesh::store {

/// A flag of etcd that has no meaning here, but must not stop a start script.
struct IgnoredFlag {
  std::string_view name;
  bool boolean = false;
};
/// A flag of etcd that a store without it would betray, as it restricts who gets in or holds other settings.
bool IsRefusedFlag(std::string_view name);
/// Null: not a flag of etcd, or not one without meaning.
const IgnoredFlag* FindIgnoredFlag(std::string_view name);

}  // namespace apimesh::store
