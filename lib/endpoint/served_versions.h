#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "lib/admission/resource_versions.h"
#include "lib/endpoint/served_resource.h"

namespace apimesh::endpoint {

/// All resources of a server that serve the same objects: the versions of a resource, in one or several groups
/// (events).
class ServedVersions final : public admission::ResourceVersions {
 public:
  /// Must be called in the order in which the server lists the versions, before the first use.
  void Add(ServedResourcePtr resource) { resources_.push_back(std::move(resource)); }

  const std::vector<Version>& Equivalents(std::string_view subresource) const override;
  Task<meta::Result<meta::Object>> Convert(meta::RequestContext ctx, meta::Object object,
                                           meta::Gvk kind) const override;
  meta::Result<meta::Object> Complete(meta::json::object document, const meta::Gvk& kind) const override;
  meta::Result<std::string> ToJson(const meta::Object& object) const override;
  const schema::Node* SchemaOf(const meta::Gvk& kind) const override;

 private:
  /// What is known about one kind of these resources or of their subresources.
  struct Kind {
    const ServedResource* served = nullptr;  // nullptr if it is a kind of a subresource
    const schema::Node* node = nullptr;
    const registry::Strategy* strategy = nullptr;
  };
  meta::Result<Kind> FindKind(const meta::Gvk& kind) const;

  std::vector<ServedResourcePtr> resources_;
  mutable std::once_flag listed_;
  mutable std::map<std::string, std::vector<Version>, std::less<>> by_subresource_;  // written once, on first use
};

/// Returns the text that resources with the same objects have in common: where they are stored. Resources that store
/// nothing have the same objects if they have the same group and name.
std::string IdentityOf(const registry::Resource& resource);

}  // namespace apimesh::endpoint
