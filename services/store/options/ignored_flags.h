#pragma once

#include <string_view>

namespace apimesh::store {

/// A flag of etcd that has no effect here but must not make a start script fail.
struct IgnoredFlag {
  std::string_view name;
  bool boolean = false;
};
/// Returns whether this is a flag of etcd that must not be ignored, because it restricts access or contains other
/// settings.
bool IsRefusedFlag(std::string_view name);
/// Returns null if it is not a flag of etcd or not one without effect.
const IgnoredFlag* FindIgnoredFlag(std::string_view name);

}  // namespace apimesh::store
