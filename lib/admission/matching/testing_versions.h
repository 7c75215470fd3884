#pragma once

#include <map>

#include <boost/json/serialize.hpp>

#include "lib/admission/resource_versions.h"
#include "lib/schema/builtin.h"

/// For tests of webhooks and policies.
namespace apimesh::admission::matching {

/// Resource versions whose objects have the same fields: a conversion changes only apiVersion and kind.
class FakeVersions final : public ResourceVersions {
 public:
  FakeVersions() = default;
  explicit FakeVersions(std::vector<Version> versions) { by_subresource[""] = std::move(versions); }

  const std::vector<Version>& Equivalents(std::string_view subresource) const override {
    static const std::vector<Version> none;
    const auto found = by_subresource.find(subresource);
    return found == by_subresource.end() ? none : found->second;
  }
  Task<meta::Result<meta::Object>> Convert(meta::RequestContext, meta::Object object, meta::Gvk kind) const override {
    ++conversions;
    if (fails) co_return meta::InternalError("conversion failed");
    object.SetGvk(kind);
    co_return object;
  }
  meta::Result<meta::Object> Complete(meta::json::object document, const meta::Gvk& kind) const override {
    meta::Object object(std::move(document));
    object.SetGvk(kind);
    return object;
  }
  meta::Result<std::string> ToJson(const meta::Object& object) const override {
    return boost::json::serialize(object.Root());
  }

  const schema::Node* SchemaOf(const meta::Gvk& kind) const override { return schema::Builtin().FindKind(kind); }

  std::map<std::string, std::vector<Version>, std::less<>> by_subresource;
  bool fails = false;
  mutable int conversions = 0;
};

}  // namespace apimesh::admission::matching
