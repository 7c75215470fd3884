#pragma once

#include "lib/admission/matching/criteria.h"
#include "lib/admission/matching/request_labels.h"
#include "lib/admission/objects/objects.h"

namespace apimesh::admission::matching {

/// Decides whether a request matches criteria, including the labels of its namespace. Thread-safe.
class Matcher {
 public:
  /// If `objects` is nullptr, requests that need the labels of a namespace fail.
  explicit Matcher(ObjectsPtr objects) : objects_(std::move(objects)) {}

  /// Returns how the request matches, or nullopt if it does not. The object in `attributes` is the current one, so that
  /// the result is up to date after earlier webhooks have changed it. `criteria` and `attributes` must outlive the
  /// call. Errors are those of kube-apiserver: 404 if the namespace does not exist, else 500.
  Task<meta::Result<std::optional<matching::Match>>> Match(meta::RequestContext ctx, const Criteria& criteria,
                                                           const Attributes& attributes) const;
  /// The same for one of many criteria, which share `labels`.
  Task<meta::Result<std::optional<matching::Match>>> Match(meta::RequestContext ctx, const Criteria& criteria,
                                                           const Attributes& attributes, RequestLabels& labels) const;
  /// The same without I/O, which costs no coroutine. Returns nullopt if the labels of the namespace must be read first.
  static std::optional<meta::Result<std::optional<matching::Match>>> MatchNow(const Criteria& criteria,
                                                                              const Attributes& attributes,
                                                                              RequestLabels& labels);
  /// Returns the labels that namespace selectors are compared with, or nullptr if they do not matter for the request or
  /// have not been read yet.
  static const meta::Labels* KnownNamespaceLabels(const Attributes& attributes, RequestLabels& labels);
  /// Reads the labels of the namespace if selectors of candidates need them. Without them, `labels` stays as it is:
  /// Match() returns the error for the criteria that match otherwise.
  Task<> ReadNamespaceLabels(meta::RequestContext ctx, const Attributes& attributes, RequestLabels& labels) const;
  /// Returns whether ReadNamespaceLabels() would read.
  static bool NeedsNamespaceLabels(const Attributes& attributes, const RequestLabels& labels);

  /// Returns the namespace object with this name. If the cache does not have it, it is read from the store.
  Task<meta::Result<ObjectPtr>> Namespace(meta::RequestContext ctx, std::string name) const;

 private:
  const ObjectsPtr objects_;
};

}  // namespace apimesh::admission::matching
