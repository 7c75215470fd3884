#include "lib/admission/matching/matcher.h"

#include "lib/admission/objects/object_table.h"

namespace apimesh::admission::matching {
namespace {

constexpr std::string_view kNamespaces = "namespaces";

/// Returns whether the request creates or updates a namespace. Its labels are then those of the object in the request.
bool WritesNamespace(const Attributes& attributes) {
  return attributes.resource.resource == kNamespaces && attributes.subresource.empty() && attributes.object &&
         (attributes.operation == Operation::kCreate || attributes.operation == Operation::kUpdate);
}

}  // namespace

Task<meta::Result<ObjectPtr>> Matcher::Namespace(meta::RequestContext ctx, std::string name) const {
  if (!objects_) co_return meta::InternalError("namespaces cannot be read");
  const meta::Gvr namespaces{"", "v1", std::string(kNamespaces)};
  co_return co_await objects_->Get(std::move(ctx), namespaces, "", std::move(name), Read::kCachedElseNewest);
}

Task<meta::Result<bool>> Matcher::MatchesNamespace(meta::RequestContext ctx, const Criteria& criteria,
                                                   const Attributes& attributes) const {
  if (WritesNamespace(attributes)) co_return criteria.NamespaceSelector().Matches(LabelsOf(*attributes.object));
  const meta::Result<ObjectPtr> found = co_await Namespace(std::move(ctx), attributes.ns);
  if (found) co_return criteria.NamespaceSelector().Matches(LabelsOf(**found));
  if (found.error().Is(meta::Reason::kNotFound)) co_return found.error();
  co_return meta::InternalError(found.error().Message());
}

Task<meta::Result<std::optional<Match>>> Matcher::Match(meta::RequestContext ctx, const Criteria& criteria,
                                                        const Attributes& attributes) const {
  std::optional<matching::Match> match = criteria.MatchRules(attributes);
  if (!match) co_return match;
  if (!criteria.SelectorError().empty()) co_return meta::InternalError(criteria.SelectorError());
  if (!criteria.MatchesObject(attributes)) co_return std::optional<matching::Match>();
  // Cluster-scoped objects other than namespaces have no namespace whose labels could exclude them.
  const bool clusterwide = attributes.ns.empty() && attributes.resource.resource != kNamespaces;
  if (clusterwide || criteria.NamespaceSelector().Empty()) co_return match;
  const meta::Result<bool> matches = co_await MatchesNamespace(std::move(ctx), criteria, attributes);
  if (!matches) co_return matches.error();
  co_return *matches ? match : std::nullopt;
}

}  // namespace apimesh::admission::matching
