#include "lib/rpc/delegate_proto.h"

#include <google/protobuf/io/coded_stream.h>

#include "lib/rpc/wire.h"

namespace apimesh::rpc {
namespace {

void AddHeaders(Headers headers, google::protobuf::RepeatedPtrField<mesh::v1::Header>* out) {
  out->Reserve(static_cast<int>(headers.size()));
  for (auto& [name, value] : headers) {
    auto* header = out->Add();
    header->set_name(std::move(name));
    header->set_value(std::move(value));
  }
}

template <class Field>
std::vector<std::string> MoveStrings(Field* field) {
  return {std::make_move_iterator(field->begin()), std::make_move_iterator(field->end())};
}

void AddStrings(std::vector<std::string> strings, google::protobuf::RepeatedPtrField<std::string>* out) {
  out->Reserve(static_cast<int>(strings.size()));
  for (auto& text : strings) *out->Add() = std::move(text);
}

/// `head` serialized, then the bytes field `body_field` made of `pieces`. Fields of a message may come in any order.
template <class Message>
h2::Message EncodeWithBody(const Message& head, int body_field, const std::vector<SharedBytes>& pieces) {
  std::string bytes = head.SerializeAsString();
  std::size_t size = 0;
  for (const auto& piece : pieces) size += piece.size();
  if (size > 0) {
    std::uint8_t buffer[16];
    std::uint8_t* end = google::protobuf::io::CodedOutputStream::WriteVarint32ToArray(body_field << 3 | 2, buffer);
    end = google::protobuf::io::CodedOutputStream::WriteVarint64ToArray(size, end);
    bytes.append(reinterpret_cast<const char*>(buffer), end - buffer);
  }
  h2::Message message;
  message.reserve(pieces.size() + 1);
  message.emplace_back(std::move(bytes));
  message.insert(message.end(), pieces.begin(), pieces.end());
  return message;
}

/// Takes a message of that form apart: `head` from all fields but `body_field`, whose bytes stay where they are.
template <class Message>
bool ParseWithBody(std::string bytes, int body_field, Message* head, SharedBytes* body) {
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  const auto* data = reinterpret_cast<const std::uint8_t*>(owner->data());
  google::protobuf::io::CodedInputStream input(data, static_cast<int>(owner->size()));
  std::string rest;
  for (;;) {
    const int begin = input.CurrentPosition();
    const std::uint32_t tag = input.ReadTag();
    if (tag == 0) break;
    std::uint32_t size = 0;
    std::uint64_t number = 0;
    if ((tag & 7) == 2) {
      if (!input.ReadVarint32(&size) || size > owner->size() - input.CurrentPosition()) return false;
      const std::string_view value(owner->data() + input.CurrentPosition(), size);
      if (!input.Skip(static_cast<int>(size))) return false;
      if (tag >> 3 == static_cast<std::uint32_t>(body_field)) {
        *body = SharedBytes(owner, value);
        continue;
      }
    } else if ((tag & 7) != 0 || !input.ReadVarint64(&number)) {
      return false;
    }
    rest.append(*owner, begin, input.CurrentPosition() - begin);
  }
  return input.ConsumedEntireMessage() && head->ParseFromString(rest);
}

/// Copying a small piece costs less than saying where it is.
constexpr std::size_t kSmallestLent = 1024;

/// The pieces of a chunk of which a part lies in memory that was lent. False: it does not fit together.
bool PutTogether(std::string_view layout, const SharedBytes& data, const std::shared_ptr<const segment::View>& lent,
                 std::vector<SharedBytes>* pieces) {
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const std::uint8_t*>(layout.data()), static_cast<int>(layout.size()));
  std::string_view rest = data.View();
  std::size_t lent_pieces = 0;
  while (input.CurrentPosition() < static_cast<int>(layout.size())) {
    std::uint64_t size = 0, offset = 0;
    if (!input.ReadVarint64(&size)) return false;
    const bool elsewhere = (size & 1) != 0;
    size >>= 1;
    if (elsewhere) {
      if (!input.ReadVarint64(&offset) || ++lent_pieces > kMostLent) return false;
      const std::string_view bytes = lent->At(offset, size);
      if (bytes.size() != size) return false;
      pieces->emplace_back(lent, bytes);
    } else {
      if (size > rest.size()) return false;
      if (size == 0) continue;  // a chunk of them would take far more memory than it has bytes
      pieces->emplace_back(data.Owner(), rest.substr(0, size));
      rest.remove_prefix(size);
    }
  }
  return rest.empty();
}

}  // namespace

mesh::v1::User ToProto(meta::UserInfo user) {
  mesh::v1::User message;
  message.set_name(std::move(user.name));
  message.set_uid(std::move(user.uid));
  AddStrings(std::move(user.groups), message.mutable_groups());
  for (auto& [key, values] : user.extra) {
    AddStrings(std::move(values), (*message.mutable_extra())[key].mutable_values());
  }
  return message;
}

meta::UserInfo FromProto(mesh::v1::User&& message) {
  meta::UserInfo user;
  user.name = std::move(*message.mutable_name());
  user.uid = std::move(*message.mutable_uid());
  user.groups = MoveStrings(message.mutable_groups());
  for (auto& [key, extra] : *message.mutable_extra()) user.extra[key] = MoveStrings(extra.mutable_values());
  return user;
}

mesh::v1::RequestInfo ToProto(meta::RequestInfo info) {
  mesh::v1::RequestInfo message;
  message.set_is_resource_request(info.is_resource_request);
  message.set_verb(std::move(info.verb));
  message.set_api_prefix(std::move(info.api_prefix));
  message.set_api_group(std::move(info.api_group));
  message.set_api_version(std::move(info.api_version));
  message.set_namespace_(std::move(info.ns));
  message.set_resource(std::move(info.resource));
  message.set_subresource(std::move(info.subresource));
  message.set_name(std::move(info.name));
  AddStrings(std::move(info.parts), message.mutable_parts());
  message.set_field_selector(std::move(info.field_selector));
  message.set_label_selector(std::move(info.label_selector));
  return message;
}

meta::RequestInfo FromProto(mesh::v1::RequestInfo&& message) {
  meta::RequestInfo info;
  info.is_resource_request = message.is_resource_request();
  info.verb = std::move(*message.mutable_verb());
  info.api_prefix = std::move(*message.mutable_api_prefix());
  info.api_group = std::move(*message.mutable_api_group());
  info.api_version = std::move(*message.mutable_api_version());
  info.ns = std::move(*message.mutable_namespace_());
  info.resource = std::move(*message.mutable_resource());
  info.subresource = std::move(*message.mutable_subresource());
  info.name = std::move(*message.mutable_name());
  info.parts = MoveStrings(message.mutable_parts());
  info.field_selector = std::move(*message.mutable_field_selector());
  info.label_selector = std::move(*message.mutable_label_selector());
  return info;
}

mesh::v1::Request ToProto(Request request) {
  mesh::v1::Request message;
  message.set_cluster(std::move(request.cluster));
  message.set_method(std::move(request.method));
  message.set_path(std::move(request.path));
  message.set_query(std::move(request.query));
  AddHeaders(std::move(request.headers), message.mutable_headers());
  message.set_body(std::move(request.body));
  *message.mutable_user() = ToProto(std::move(request.user));
  *message.mutable_info() = ToProto(std::move(request.info));
  message.set_audit_id(std::move(request.audit_id));
  message.set_traceparent(std::move(request.traceparent));
  message.set_remote_address(std::move(request.remote_address));
  return message;
}

Request FromProto(mesh::v1::Request&& message) {
  Request request;
  request.cluster = std::move(*message.mutable_cluster());
  request.method = std::move(*message.mutable_method());
  request.path = std::move(*message.mutable_path());
  request.query = std::move(*message.mutable_query());
  request.headers = FromProto(std::move(*message.mutable_headers()));
  request.body = std::move(*message.mutable_body());
  request.user = FromProto(std::move(*message.mutable_user()));
  request.info = FromProto(std::move(*message.mutable_info()));
  request.info.path = request.path;
  request.audit_id = std::move(*message.mutable_audit_id());
  request.traceparent = std::move(*message.mutable_traceparent());
  request.remote_address = std::move(*message.mutable_remote_address());
  return request;
}

Headers FromProto(google::protobuf::RepeatedPtrField<mesh::v1::Header>&& headers) {
  Headers out;
  out.reserve(headers.size());
  for (auto& header : headers) {
    out.emplace_back(std::move(*header.mutable_name()), std::move(*header.mutable_value()));
  }
  return out;
}

mesh::v1::Response ToProto(const Response& response) {
  mesh::v1::Response message;
  message.set_code(response.code);
  AddHeaders(response.headers, message.mutable_headers());
  for (const auto& piece : response.body) message.mutable_body()->append(piece.View());
  message.set_use_stream(response.use_stream);
  return message;
}

Response FromProto(mesh::v1::Response&& message) {
  Response response;
  response.code = message.code();
  response.headers = FromProto(std::move(*message.mutable_headers()));
  if (!message.body().empty()) response.body.emplace_back(std::move(*message.mutable_body()));
  response.use_stream = message.use_stream();
  return response;
}

h2::Message Encode(const Response& response) {
  mesh::v1::Response head;
  head.set_code(response.code);
  AddHeaders(response.headers, head.mutable_headers());
  head.set_use_stream(response.use_stream);
  return EncodeWithBody(head, mesh::v1::Response::kBodyFieldNumber, response.body);
}

h2::Message EncodeChunk(int code, const Headers& headers, const std::vector<SharedBytes>& pieces, WatchPlace place) {
  mesh::v1::Chunk head;
  head.set_code(code);
  head.set_place(place.revision);
  head.set_bookmark(place.bookmark);
  AddHeaders(headers, head.mutable_headers());
  return EncodeWithBody(head, mesh::v1::Chunk::kDataFieldNumber, pieces);
}

h2::Message EncodeWholeChunk(const Response& response) {
  mesh::v1::Chunk head;
  head.set_code(response.code);
  AddHeaders(response.headers, head.mutable_headers());
  head.set_whole(true);
  return EncodeWithBody(head, mesh::v1::Chunk::kDataFieldNumber, response.body);
}

std::optional<segment::Place> LendablePlace(const segment::Segment& segment, std::string_view piece) {
  return piece.size() >= kSmallestLent ? segment.Find(piece) : std::nullopt;
}

h2::Message EncodeLentChunk(const segment::Segment& segment, segment::Segment::Lease& lease, std::vector<SharedBytes> pieces, const Response* whole) {
  std::vector<SharedBytes> inside;
  std::string between;  // what is too short for a piece of its own: of a list, the signs between its items
  std::string layout;
  WireWriter writer(layout);
  for (SharedBytes& piece : pieces) {
    std::optional<segment::Place> place;
    if (lease.Kept() < kMostLent) place = LendablePlace(segment, piece.View());
    writer.Varint(std::uint64_t{piece.size()} << 1 | (place ? 1 : 0));
    if (place) {
      writer.Varint(place->offset);
      lease.Keep(std::move(piece).Owner());
    } else if (piece.size() < kSmallestLent) {
      between += piece.View();
    } else {
      if (!between.empty()) inside.emplace_back(std::exchange(between, {}));
      inside.push_back(std::move(piece));
    }
  }
  if (!between.empty()) inside.emplace_back(std::move(between));
  mesh::v1::Chunk head;
  if (whole) {
    head.set_code(whole->code);
    AddHeaders(whole->headers, head.mutable_headers());
    head.set_whole(true);
  }
  head.set_layout(std::move(layout));
  head.set_slot(static_cast<std::uint32_t>(lease.Slot()));
  head.set_lease(lease.Number());
  return EncodeWithBody(head, mesh::v1::Chunk::kDataFieldNumber, inside);
}

h2::Message EncodeLastChunk() {
  mesh::v1::Chunk head;
  head.set_last(true);
  return EncodeWithBody(head, mesh::v1::Chunk::kDataFieldNumber, {});
}

bool ParseResponse(std::string bytes, Response* response) {
  mesh::v1::Response head;
  SharedBytes body;
  if (!ParseWithBody(std::move(bytes), mesh::v1::Response::kBodyFieldNumber, &head, &body)) return false;
  *response = FromProto(std::move(head));
  if (!body.empty()) response->body.push_back(std::move(body));
  return true;
}

bool ParseChunk(std::string bytes, const std::shared_ptr<const segment::View>& lent, ParsedChunk* chunk) {
  mesh::v1::Chunk head;
  SharedBytes data;
  if (!ParseWithBody(std::move(bytes), mesh::v1::Chunk::kDataFieldNumber, &head, &data)) return false;
  if (head.layout().empty()) {
    if (!data.empty()) chunk->pieces.push_back(std::move(data));
  } else if (!lent || !PutTogether(head.layout(), data, lent, &chunk->pieces)) {
    return false;
  }
  chunk->slot = head.slot();
  chunk->lease = head.lease();
  chunk->last = head.last();
  chunk->code = head.code();
  chunk->headers = FromProto(std::move(*head.mutable_headers()));
  chunk->place = {head.place(), head.bookmark()};
  chunk->whole = head.whole();
  return true;
}

mesh::v1::Description ToProto(const Description& description) {
  mesh::v1::Description message;
  message.set_etag(description.etag);
  for (const auto& served : description.group_versions) {
    auto* out = message.add_group_versions();
    out->set_group(served.group);
    out->set_version(served.version);
    out->set_group_priority_minimum(served.group_priority_minimum);
    out->set_version_priority(served.version_priority);
    out->set_resource_list(served.resource_list);
    out->set_aggregated_discovery(served.aggregated_discovery);
    out->set_openapi_v3_hash(served.openapi_v3_hash);
  }
  AddStrings(description.paths, message.mutable_paths());
  message.set_memory(description.memory);
  return message;
}

Description FromProto(mesh::v1::Description&& message) {
  Description description;
  description.etag = std::move(*message.mutable_etag());
  for (auto& served : *message.mutable_group_versions()) {
    GroupVersionDescription out;
    out.group = std::move(*served.mutable_group());
    out.version = std::move(*served.mutable_version());
    out.group_priority_minimum = served.group_priority_minimum();
    out.version_priority = served.version_priority();
    out.resource_list = std::move(*served.mutable_resource_list());
    out.aggregated_discovery = std::move(*served.mutable_aggregated_discovery());
    out.openapi_v3_hash = std::move(*served.mutable_openapi_v3_hash());
    description.group_versions.push_back(std::move(out));
  }
  description.paths = MoveStrings(message.mutable_paths());
  description.memory = std::move(*message.mutable_memory());
  return description;
}

meta::ApiError ToApiError(const h2::Status& status) {
  switch (status.code) {
    case h2::Code::kDeadlineExceeded: return meta::Timeout("request did not complete within the allotted timeout");
    case h2::Code::kUnavailable:
    case h2::Code::kCancelled:
      return meta::ServiceUnavailable("the server is currently unable to handle the request", 1);
    default: return meta::InternalError(status.message);
  }
}

}  // namespace apimesh::rpc
