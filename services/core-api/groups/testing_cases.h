#pragma once

#include <string>
#include <vector>

#include "services/core-api/groups/testing.h"

/// Rows of the tables in the tests of kinds: an object, and the errors that its creation reports. Unless a test says
/// otherwise, the messages are those of kube-apiserver v1.36 for the same objects.
namespace apimesh::core_api::testing {

using Strings = std::vector<std::string>;
using ResourceFn = registry::Resource (*)(const KindInputs&);

struct KindCase {
  ResourceFn kind;
  const char* object;
  Strings want;
};

struct NamedCase {
  const char* name;
  const char* json;
  Strings want;
};

/// For tables with objects of several kinds.
struct NamedKindCase {
  const char* name;
  ResourceFn resource;
  const char* json;
  Strings want;
};

}  // namespace apimesh::core_api::testing
