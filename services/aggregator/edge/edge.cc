#include "services/aggregator/edge/edge.h"

namespace apimesh::aggregator {
namespace {

Task<> Serve(Listener listener, std::shared_ptr<const Filters> filters, const Clock& clock, http::Request request,
             http::ResponseWriter& writer) {
  Exchange exchange(std::move(request), writer, clock);
  ClientIdentity client = IdentifyClient(listener, *exchange.request.peer, exchange.request.headers);
  exchange.client_certificates = std::move(client.certificates_der);
  exchange.source_address = std::move(client.address);
  exchange.forwarded_for = std::move(client.forwarded_for);
  co_await RunFilters(*filters, exchange);
}

}  // namespace

http::Handler EdgeHandler(Listener listener, std::shared_ptr<const Filters> filters, const Clock& clock) {
  return [listener, filters = std::move(filters), &clock](http::Request request, http::ResponseWriter& writer) {
    return Serve(listener, filters, clock, std::move(request), writer);
  };
}

}  // namespace apimesh::aggregator
