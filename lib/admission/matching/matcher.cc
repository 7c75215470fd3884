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

/// Returns whether namespace selectors do not matter for a request. Cluster-scoped objects other than namespaces have
/// no namespace whose labels could exclude them.
bool IsClusterWide(const Attributes& attributes) {
  return attributes.ns.empty() && attributes.resource.resource != kNamespaces;
}

}  // namespace

Task<meta::Result<ObjectPtr>> Matcher::Namespace(meta::RequestContext ctx, std::string name) const {
  if (!objects_) co_return meta::InternalError("namespaces cannot be read");
  const meta::Gvr namespaces{"", "v1", std::string(kNamespaces)};
  co_return co_await objects_->Get(std::move(ctx), namespaces, "", std::move(name), Read::kCachedElseNewest);
}

const meta::Labels* Matcher::KnownNamespaceLabels(const Attributes& attributes, RequestLabels& labels) {
  if (IsClusterWide(attributes)) return nullptr;
  return WritesNamespace(attributes) ? labels.Object() : labels.Namespace();
}

bool Matcher::NeedsNamespaceLabels(const Attributes& attributes, const RequestLabels& labels) {
  return !IsClusterWide(attributes) && !WritesNamespace(attributes) && !labels.Namespace();
}

Task<> Matcher::ReadNamespaceLabels(meta::RequestContext ctx, const Attributes& attributes,
                                    RequestLabels& labels) const {
  if (!NeedsNamespaceLabels(attributes, labels)) co_return;
  const meta::Result<ObjectPtr> found = co_await Namespace(std::move(ctx), attributes.ns);
  if (found) labels.SetNamespace(LabelsOf(**found));
}

std::optional<meta::Result<std::optional<Match>>> Matcher::MatchNow(const Criteria& criteria,
                                                                    const Attributes& attributes,
                                                                    RequestLabels& labels) {
  std::optional<matching::Match> match = criteria.MatchRules(attributes);
  if (!match) return match;
  if (!criteria.SelectorError().empty()) return meta::InternalError(criteria.SelectorError());
  const bool objects = criteria.ObjectSelector().Empty() || criteria.MatchesObject(labels.Object(), labels.OldObject());
  if (!objects) return std::optional<matching::Match>();
  if (IsClusterWide(attributes) || criteria.NamespaceSelector().Empty()) return match;
  const meta::Labels* const of_namespace = KnownNamespaceLabels(attributes, labels);
  if (!of_namespace) return std::nullopt;
  return criteria.NamespaceSelector().Matches(*of_namespace) ? match : std::nullopt;
}

Task<meta::Result<std::optional<Match>>> Matcher::Match(meta::RequestContext ctx, const Criteria& criteria,
                                                        const Attributes& attributes) const {
  RequestLabels labels(attributes);
  co_return co_await Match(std::move(ctx), criteria, attributes, labels);
}

Task<meta::Result<std::optional<Match>>> Matcher::Match(meta::RequestContext ctx, const Criteria& criteria,
                                                        const Attributes& attributes, RequestLabels& labels) const {
  std::optional<meta::Result<std::optional<matching::Match>>> now = MatchNow(criteria, attributes, labels);
  if (now) co_return *now;
  const meta::Result<ObjectPtr> found = co_await Namespace(std::move(ctx), attributes.ns);
  if (!found) {
    if (found.error().Is(meta::Reason::kNotFound)) co_return found.error();
    co_return meta::InternalError(found.error().Message());
  }
  labels.SetNamespace(LabelsOf(**found));
  now = MatchNow(criteria, attributes, labels);
  co_return *now;
}

}  // namespace apimesh::admission::matching
