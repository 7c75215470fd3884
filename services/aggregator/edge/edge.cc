#include "services/aggregator/edge/edge.h"

namespace apimesh::aggregator {
namespace {

Task<> Serve(Door door, std::shared_ptr<const Filters> filters, http::Request request, http::ResponseWriter& writer) {
  Exchange exchange(std::move(request), writer);
  ClientIdentity client = IdentifyClient(door, *exchange.request.peer, exchange.request.headers);
  exchange.client_certificates = std::move(client.certificates_der);
  exchange.source_address = std::move(client.address);
  co_await RunFilters(*filters, exchange);
}

}  // namespace

http::Handler EdgeHandler(Door door, std::shared_ptr<const Filters> filters) {
  return [door, filters = std::move(filters)](http::Request request, http::ResponseWriter& writer) {
    return Serve(door, filters, std::move(request), writer);
  };
}

}  // namespace apimesh::aggregator
