#include "services/aggregator/audit/audit_object.h"

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

}  // namespace

std::optional<json::value> AuditObject(std::string_view body, std::string_view content_type) {
  if (body.empty()) return std::nullopt;
  if (codec::IsProtobuf(body)) return FromProtobuf(body);
  codec::ParseLimits limits;
  // Its size was checked when it was read, and answers may be longer.
  limits.bytes = std::numeric_limits<std::size_t>::max();
  const bool yaml = content_type.find("yaml") != std::string_view::npos;
  auto parsed = yaml ? codec::ParseYaml(body, json::storage_ptr(), nullptr, limits)
                     : codec::ParseJson(body, json::storage_ptr(), nullptr, limits);
  if (!parsed || !(parsed->is_object() || parsed->is_array())) return std::nullopt;
  return std::move(*parsed);
}

}  // namespace apimesh::aggregator
