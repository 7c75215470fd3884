#pragma once

#include <memory>

#include "lib/rpc/delegate.h"

namespace apimesh::service {

/// What the reference says to a path that belongs to no API: plain text.
rpc::Response PlainNotFound();

/// The end of the server chain: PlainNotFound() to everything.
std::shared_ptr<rpc::DelegateHandler> NotFoundHandler();

/// Passes everything on to the next server of the chain.
std::shared_ptr<rpc::DelegateHandler> ForwardTo(std::shared_ptr<rpc::DelegateClient> next);

}  // namespace apimesh::service
