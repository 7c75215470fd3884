#pragma once

#include <memory>

#include "lib/mesh/delegate/delegate.h"

namespace apimesh::service {

/// The plain text 404 with which kube-apiserver answers a path that belongs to no API.
mesh::Response PlainNotFound();

/// The end of the server chain: answers every request with PlainNotFound().
std::shared_ptr<mesh::DelegateHandler> NotFoundHandler();

/// Forwards all requests to the next server of the chain.
std::shared_ptr<mesh::DelegateHandler> ForwardTo(std::shared_ptr<mesh::DelegateClient> next);

}  // namespace apimesh::service
