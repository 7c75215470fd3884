#pragma once

#include <boost/json/value.hpp>

#include <optional>
#include <string_view>

namespace apimesh::aggregator {

/// The body of a request or of an answer as it is recorded in an audit event: as JSON, whatever it was sent as (JSON,
/// YAML, or protobuf of a built-in kind). It is read with the limits that group servers apply, so whatever they accept
/// is recorded. nullopt: it is none of these, or malformed.
std::optional<boost::json::value> AuditObject(std::string_view body, std::string_view content_type);

}  // namespace apimesh::aggregator
