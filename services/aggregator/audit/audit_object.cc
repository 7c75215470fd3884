#include "services/aggregator/audit/audit_object.h"

#include <algorithm>
#include <limits>

#include "lib/codec/codec.h"
#include "lib/schema/builtin.h"

namespace apimesh::aggregator {
namespace {

namespace json = boost::json;

std::optional<json::value> FromProtobuf(std::string_view body) {
  const auto kind = codec::PeekProtobuf(body);
  const schema::Node* const node = kind ? schema::Builtin().FindKind(*kind) : nullptr;
  if (node == nullptr) return std::nullopt;
  auto object = codec::ReadProtobuf(body, *node, json::storage_ptr());
  if (!object) return std::nullopt;
  return json::value(std::move(object->Root()));
}

std::string Join(const std::vector<SharedBytes>& pieces) {
  std::string text;
  for (const SharedBytes& piece : pieces) text += piece.View();
  return text;
}

/// Returns whether the body begins like a JSON object with these first bytes, ignoring white space.
bool BeginsLike(const std::vector<SharedBytes>& pieces, std::string_view wanted) {
  for (const SharedBytes& piece : pieces) {
    for (const char c : piece.View()) {
      if (wanted.empty()) return true;
      if (c == ' ' || c == '\n') continue;
      if (c != wanted.front()) return false;
      wanted.remove_prefix(1);
    }
  }
  return wanted.empty();
}

/// Objects of the API begin with their type, unlike other documents that the server sends (versions, OpenAPI).
bool IsJsonObject(const std::vector<SharedBytes>& pieces) {
  return BeginsLike(pieces, R"({"kind":)") || BeginsLike(pieces, R"({"apiVersion":)");
}

/// Removes the line feed at the end of a document.
void RemoveLastLineFeed(std::vector<SharedBytes>& pieces) {
  while (!pieces.empty() && pieces.back().empty()) pieces.pop_back();
  if (pieces.empty() || pieces.back().View().back() != '\n') return;
  const SharedBytes last = std::move(pieces.back());
  pieces.pop_back();
  const std::string_view rest = last.View().substr(0, last.size() - 1);
  if (!rest.empty()) pieces.emplace_back(last.Owner(), rest);
}

/// Compact JSON has no line feed, because those in strings are escaped.
bool HasLineFeed(const std::vector<SharedBytes>& pieces) {
  return std::any_of(pieces.begin(), pieces.end(),
                     [](const SharedBytes& piece) { return piece.View().find('\n') != std::string_view::npos; });
}

std::vector<SharedBytes> Encoded(std::optional<json::value> value, bool omit_managed_fields) {
  std::vector<SharedBytes> pieces;
  if (!value) return pieces;
  if (omit_managed_fields) RemoveManagedFields(*value);
  pieces.emplace_back(codec::WriteJson(*value));
  return pieces;
}

}  // namespace

std::optional<json::value> AuditObject(std::string_view body, std::string_view content_type) {
  if (body.empty()) return std::nullopt;
  if (codec::IsProtobuf(body)) return FromProtobuf(body);
  codec::ParseLimits limits;
  // The size of requests was checked when they were read, and responses may be larger.
  limits.bytes = std::numeric_limits<std::size_t>::max();
  const bool yaml = content_type.find("yaml") != std::string_view::npos;
  auto parsed = yaml ? codec::ParseYaml(body, json::storage_ptr(), nullptr, limits)
                     : codec::ParseJson(body, json::storage_ptr(), nullptr, limits);
  if (!parsed || !(parsed->is_object() || parsed->is_array())) return std::nullopt;
  return std::move(*parsed);
}

std::vector<SharedBytes> AuditedRequest(const Exchange& exchange, bool omit_managed_fields) {
  // A patch is recorded as it is, with its managed fields, unless its type is refused.
  if (!exchange.audit.patch.empty()) {
    if (exchange.reply.Code() == 415) return {};
    return Encoded(AuditObject(exchange.audit.patch, exchange.request.Header("content-type")), false);
  }
  const SharedBytes& object = exchange.audit.object;
  if (object.empty()) return {};
  if (omit_managed_fields && object.View().find("\"managedFields\"") != std::string_view::npos) {
    return Encoded(AuditObject(object.View(), "application/json"), true);
  }
  return {object};
}

std::vector<SharedBytes> AuditedResponse(const Exchange& exchange, bool omit_managed_fields) {
  const Reply& reply = exchange.reply;
  if (exchange.audit.foreign || reply.Body().empty()) return {};
  if (exchange.long_running) {  // a stream, a connection, or an error
    std::optional<json::object> status = AuditedStatus(reply);
    return status ? Encoded(json::value(std::move(*status)), false) : std::vector<SharedBytes>();
  }
  const bool is_json = reply.ContentType().starts_with("application/json");
  if (is_json && !IsJsonObject(reply.Body())) return {};
  const bool other = reply.ContentType().starts_with("application/yaml") ||
                     reply.ContentType().starts_with("application/vnd.kubernetes.protobuf");
  if (!is_json && !other) return {};
  if (is_json) {  // a server of the mesh has written it
    std::vector<SharedBytes> pieces = reply.Body();
    RemoveLastLineFeed(pieces);
    if (!omit_managed_fields && !HasLineFeed(pieces)) return pieces;
  }
  return Encoded(AuditObject(Join(reply.Body()), reply.ContentType()), omit_managed_fields);
}

std::optional<json::object> AuditedStatus(const Reply& reply) {
  if (reply.Body().empty()) return std::nullopt;
  const bool is_json = reply.ContentType().starts_with("application/json");
  if (is_json && !BeginsLike(reply.Body(), R"({"kind":"Status")")) return std::nullopt;
  if (!is_json && !reply.ContentType().starts_with("application/yaml") &&
      !reply.ContentType().starts_with("application/vnd.kubernetes.protobuf")) {
    return std::nullopt;
  }
  const std::string body = Join(reply.Body());
  if (codec::IsProtobuf(body)) {
    const auto kind = codec::PeekProtobuf(body);
    if (!kind || kind->kind != "Status") return std::nullopt;
  }
  std::optional<json::value> value = AuditObject(body, reply.ContentType());
  if (!value || !value->is_object()) return std::nullopt;
  const json::value* kind = value->get_object().if_contains("kind");
  if (!kind || *kind != "Status") return std::nullopt;
  return std::move(value->get_object());
}

void RemoveManagedFields(json::value& object) {
  if (!object.is_object()) return;
  json::object& fields = object.get_object();
  if (json::value* metadata = fields.if_contains("metadata"); metadata && metadata->is_object()) {
    // Boost's erase() moves the last field to the position of the erased one.
    metadata->get_object().stable_erase("managedFields");
  }
  if (json::value* items = fields.if_contains("items"); items && items->is_array()) {
    for (json::value& item : items->get_array()) RemoveManagedFields(item);
  }
  const json::value* kind = fields.if_contains("kind");
  json::value* rows = kind && *kind == "Table" ? fields.if_contains("rows") : nullptr;
  if (!rows || !rows->is_array()) return;
  for (json::value& row : rows->get_array()) {
    json::value* inner = row.is_object() ? row.get_object().if_contains("object") : nullptr;
    if (inner) RemoveManagedFields(*inner);
  }
}

}  // namespace apimesh::aggregator
