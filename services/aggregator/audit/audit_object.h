#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <boost/json/value.hpp>

#include "lib/base/bytes.h"
#include "services/aggregator/edge/exchange.h"

namespace apimesh::aggregator {

/// Converts the body of a request or response to the JSON that an audit event records. The body may be JSON, YAML, or
/// protobuf of a built-in kind. The parser has the same limits as the group servers except for the size, so every body
/// that they accept is recorded. Returns nullopt for other content types and malformed bodies.
std::optional<boost::json::value> AuditObject(std::string_view body, std::string_view content_type);

/// Returns the request object of an event as JSON; empty if there is none. It is what the group server has decoded, or
/// the patch as it was sent.
std::vector<SharedBytes> AuditedRequest(const Exchange& exchange, bool omit_managed_fields);

/// Returns the response object of an event as JSON; empty if there is none. Compact JSON of a group server is recorded
/// as it is, without parsing and copying it. Responses of servers outside of the mesh are not recorded.
std::vector<SharedBytes> AuditedResponse(const Exchange& exchange, bool omit_managed_fields);

/// Returns the response if it is a meta.k8s.io Status.
std::optional<boost::json::object> AuditedStatus(const Reply& reply);

/// Removes metadata.managedFields of an object, of the items of a list, and of the rows of a Table.
void RemoveManagedFields(boost::json::value& object);

}  // namespace apimesh::aggregator
