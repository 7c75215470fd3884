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

/// Returns whether the namespace selector does not matter for a request. Cluster-scoped objects other than namespaces
/// have no namespace whose labels could exclude them.
bool SelectsAllNamespaces(const Criteria& criteria, const Attributes& attributes) {
  const bool clusterwide = attributes.ns.empty() && attributes.resource.resource != kNamespaces;
  return clusterwide || criteria.NamespaceSelector().Empty();
}

}  // namespace

Task<meta::Result<ObjectPtr>> Matcher::Namespace(meta::RequestContext ctx, std::string name) const {
  if (!objects_) co_return meta::InternalError("namespaces cannot be read");
  const meta::Gvr namespaces{"", "v1", std::string(kNamespaces)};
  co_return co_await objects_->Get(std::move(ctx), namespaces, "", std::move(name), Read::kCachedElseNewest);
}

Task<meta::Result<bool>> Matcher::MatchesNamespace(meta::RequestContext ctx, const Criteria& criteria,
                                                   const Attributes& attributes, RequestLabels& labels) const {
  if (WritesNamespace(attributes)) co_return criteria.NamespaceSelector().Matches(*labels.Object());
  if (labels.Namespace()) co_return criteria.NamespaceSelector().Matches(*labels.Namespace());
  const meta::Result<ObjectPtr> found = co_await Namespace(std::move(ctx), attributes.ns);
  if (found) {
    labels.SetNamespace(LabelsOf(**found));
    co_return criteria.NamespaceSelector().Matches(*labels.Namespace());
  }
  if (found.error().Is(meta::Reason::kNotFound)) co_return found.error();
  co_return meta::InternalError(found.error().Message());
}

bool Matcher::Excludes(const Criteria& criteria, const Attributes& attributes, RequestLabels& labels) {
  if (!criteria.SelectorError().empty()) return false;
  if (!criteria.ObjectSelector().Empty() && !criteria.MatchesObject(labels.Object(), labels.OldObject())) return true;
  return labels.Namespace() && !SelectsAllNamespaces(criteria, attributes) &&
         !criteria.NamespaceSelector().Matches(*labels.Namespace());
}

Task<meta::Result<std::optional<Match>>> Matcher::Match(meta::RequestContext ctx, const Criteria& criteria,
                                                        const Attributes& attributes) const {
  RequestLabels labels(attributes);
  co_return co_await Match(std::move(ctx), criteria, attributes, labels);
}

Task<meta::Result<std::optional<Match>>> Matcher::Match(meta::RequestContext ctx, const Criteria& criteria,
                                                        const Attributes& attributes, RequestLabels& labels) const {
  std::optional<matching::Match> match = criteria.MatchRules(attributes);
  if (!match) co_return match;
  if (!criteria.SelectorError().empty()) co_return meta::InternalError(criteria.SelectorError());
  if (Excludes(criteria, attributes, labels)) co_return std::optional<matching::Match>();
  if (SelectsAllNamespaces(criteria, attributes)) co_return match;
  const meta::Result<bool> matches = co_await MatchesNamespace(std::move(ctx), criteria, attributes, labels);
  if (!matches) co_return matches.error();
  co_return *matches ? match : std::nullopt;
}

}  // namespace apimesh::admission::matching
