#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "lib/meta/errors/api_error.h"

namespace apimesh::object_check {

/// The custom resources that the CustomResourceDefinitions in a store define.
class Definitions {
 public:
  struct CustomResource {
    std::string kind;
    bool namespaced = false;
    std::set<std::string, std::less<>> versions;
  };

  /// Adds a definition as it is stored: JSON of v1, or of v1beta1, in which kube-apiserver writes it.
  meta::Result<> Add(std::string_view stored);
  /// Finds the resource "GROUP/PLURAL"; nullptr if there is no definition.
  const CustomResource* Find(std::string_view group_and_plural) const;

 private:
  std::map<std::string, CustomResource, std::less<>> all_;
};

}  // namespace apimesh::object_check
