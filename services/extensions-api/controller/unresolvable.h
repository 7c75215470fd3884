#pragma once

#include <memory>
#include <mutex>
#include <set>

#include "lib/mesh/delegate/delegate.h"

namespace apimesh::extensions_api {

/// The custom resources whose names are accepted, but which cannot be served because the caBundle of their conversion
/// webhook is invalid. Discovery does not list them, and requests for them get 500, as in kube-apiserver. Thread-safe.
class UnresolvableResources {
 public:
  void Replace(std::set<meta::Gvr> resources);
  bool Contains(const meta::RequestInfo& info) const;

 private:
  mutable std::mutex mutex_;
  std::set<meta::Gvr> resources_;  // guarded by mutex_
};

/// The end of the server chain: answers requests for unresolvable resources with 500 and all others with the plain text
/// 404 of kube-apiserver.
std::shared_ptr<mesh::DelegateHandler> AnswerUnresolvable(std::shared_ptr<const UnresolvableResources> resources);

}  // namespace apimesh::extensions_api
