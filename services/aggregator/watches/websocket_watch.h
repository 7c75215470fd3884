#pragma once

#include "services/aggregator/auth/open_requests.h"
#include "services/aggregator/delegation/route_table.h"
#include "services/aggregator/edge/exchange.h"
#include "services/aggregator/health/lifecycle.h"

namespace apimesh::aggregator {

/// Whether the request asks for an upgrade to WebSocket.
bool AsksForWebSocket(const http::Request& request);

/// Forwards a watch over WebSocket: each event is one message, text for JSON and binary for protobuf, without the
/// length that precedes it in a response. An error before the first event is an ordinary response. Messages of the
/// client are ignored; the watch ends when it closes the connection. A client that does not read holds the upstream
/// watch back, and is closed after the idle timeout of its connection, or when its watch has to end.
Task<> ForwardWebSocketWatch(Exchange& exchange, mesh::DelegateClient& client, mesh::Request request,
                             Lifecycle& lifecycle, OpenRequests& open_requests);

}  // namespace apimesh::aggregator
