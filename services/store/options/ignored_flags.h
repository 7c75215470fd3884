#pragma once

#include <string_view>

namespace apimesh::store {

/// A flag of etcd that has no meaning here, but must not stop a start script.
struct IgnoredFlag {
  std::string_view name;
  bool boolean = false;
};
/// Null: not a flag of etcd.
const IgnoredFlag* FindIgnoredFlag(std::string_view name);

}  // namespace apimesh::store
