#include "lib/mesh/delegate/delegate_proto.h"

#include <google/protobuf/io/coded_stream.h>

#include "lib/mesh/delegate/wire.h"

namespace apimesh::mesh {
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

/// `head` serialized, followed by the bytes field `body_field` made of `pieces`. The fields of a message may be in any
/// order.
template <class Message>
grpc::Message EncodeWithBody(const Message& head, int body_field, const std::vector<SharedBytes>& pieces) {
  std::string bytes = head.SerializeAsString();
  std::size_t size = 0;
  for (const auto& piece : pieces) size += piece.size();
  if (size > 0) {
    std::uint8_t buffer[16];
    std::uint8_t* end = google::protobuf::io::CodedOutputStream::WriteVarint32ToArray(body_field << 3 | 2, buffer);
    end = google::protobuf::io::CodedOutputStream::WriteVarint64ToArray(size, end);
    bytes.append(reinterpret_cast<const char*>(buffer), end - buffer);
  }
  grpc::Message message;
  message.reserve(pieces.size() + 1);
  message.emplace_back(std::move(bytes));
  message.insert(message.end(), pieces.begin(), pieces.end());
  return message;
}

/// Decodes such a message: `head` gets all fields except `body_field`, whose bytes are referenced and not copied.
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

/// Copying a smaller piece costs less than describing its position.
constexpr std::size_t kMinSharedBytes = 1024;

/// Assembles the pieces of a chunk that is partly in shared memory. Returns false if the layout is inconsistent.
bool PutTogether(std::string_view layout, const SharedBytes& data,
                 const std::shared_ptr<const shared_memory::LeasedMemory>& memory, std::vector<SharedBytes>* pieces) {
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const std::uint8_t*>(layout.data()),
                                               static_cast<int>(layout.size()));
  std::string_view rest = data.View();
  std::size_t shared_pieces = 0;
  while (input.CurrentPosition() < static_cast<int>(layout.size())) {
    std::uint64_t size = 0, offset = 0;
    if (!input.ReadVarint64(&size)) return false;
    const bool elsewhere = (size & 1) != 0;
    size >>= 1;
    if (elsewhere) {
      if (!input.ReadVarint64(&offset) || ++shared_pieces > kMaxSharedPieces) return false;
      const std::string_view bytes = memory->View().At(offset, size);
      if (bytes.size() != size) return false;
      pieces->push_back(SharedBytes::InRevocableMemory(memory, bytes));
    } else {
      if (size > rest.size()) return false;
      if (size == 0)
        continue;  // otherwise a small chunk could list many empty pieces and use far more memory than its
                   // size
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
    mesh::v1::ExtraEntry* entry = message.add_extra();
    entry->set_key(key);
    AddStrings(std::move(values), entry->mutable_value()->mutable_values());
  }
  return message;
}

meta::UserInfo FromProto(mesh::v1::User&& message) {
  meta::UserInfo user;
  user.name = std::move(*message.mutable_name());
  user.uid = std::move(*message.mutable_uid());
  user.groups = MoveStrings(message.mutable_groups());
  for (mesh::v1::ExtraEntry& entry : *message.mutable_extra()) {
    const auto it = user.extra.try_emplace(user.extra.end(), std::move(*entry.mutable_key()));
    it->second = MoveStrings(entry.mutable_value()->mutable_values());
  }
  return user;
}

mesh::v1::RequestInfo ToProto(meta::RequestInfo info) {
  mesh::v1::RequestInfo message;
  message.set_is_resource_request(info.is_resource_request);
  message.set_verb(std::string(info.verb.Text()));
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
  info.verb = message.verb();
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
  message.set_watch_phase(request.watch_phase);
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
  request.watch_phase = message.watch_phase();
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
  return message;
}

Response FromProto(mesh::v1::Response&& message) {
  Response response;
  response.code = message.code();
  response.headers = FromProto(std::move(*message.mutable_headers()));
  if (!message.body().empty()) response.body.emplace_back(std::move(*message.mutable_body()));
  return response;
}

grpc::Message Encode(const Response& response) {
  mesh::v1::Response head;
  head.set_code(response.code);
  AddHeaders(response.headers, head.mutable_headers());
  return EncodeWithBody(head, mesh::v1::Response::kBodyFieldNumber, response.body);
}

grpc::Message EncodeChunk(int code, const Headers& headers, const std::vector<SharedBytes>& pieces,
                          ResumePosition position) {
  mesh::v1::Chunk head;
  head.set_code(code);
  head.set_position(position.revision);
  head.set_bookmark(position.bookmark);
  AddHeaders(headers, head.mutable_headers());
  return EncodeWithBody(head, mesh::v1::Chunk::kDataFieldNumber, pieces);
}

grpc::Message EncodeCompleteChunk(const Response& response) {
  mesh::v1::Chunk head;
  head.set_code(response.code);
  AddHeaders(response.headers, head.mutable_headers());
  head.set_complete(true);
  return EncodeWithBody(head, mesh::v1::Chunk::kDataFieldNumber, response.body);
}

std::optional<shared_memory::Position> SharablePosition(const shared_memory::Segment& segment, std::string_view piece) {
  return piece.size() >= kMinSharedBytes ? segment.Find(piece) : std::nullopt;
}

grpc::Message EncodeSharedChunk(const shared_memory::Segment& segment, shared_memory::Segment::Lease& lease,
                                std::vector<SharedBytes> pieces, const Response* complete) {
  std::vector<SharedBytes> inside;
  std::string between;  // pieces that are too short to be separate: in a list, the separators between items
  std::string layout;
  WireWriter writer(layout);
  for (SharedBytes& piece : pieces) {
    std::optional<shared_memory::Position> position;
    if (lease.Kept() < kMaxSharedPieces) position = SharablePosition(segment, piece.View());
    writer.Varint(std::uint64_t{piece.size()} << 1 | (position ? 1 : 0));
    if (position) {
      writer.Varint(position->offset);
      lease.Keep(std::move(piece).Owner());
    } else if (piece.size() < kMinSharedBytes) {
      between += piece.View();
    } else {
      if (!between.empty()) inside.emplace_back(std::exchange(between, {}));
      inside.push_back(std::move(piece));
    }
  }
  if (!between.empty()) inside.emplace_back(std::move(between));
  mesh::v1::Chunk head;
  if (complete) {
    head.set_code(complete->code);
    AddHeaders(complete->headers, head.mutable_headers());
    head.set_complete(true);
  }
  head.set_layout(std::move(layout));
  head.set_slot(static_cast<std::uint32_t>(lease.Slot()));
  head.set_lease(lease.Number());
  return EncodeWithBody(head, mesh::v1::Chunk::kDataFieldNumber, inside);
}

grpc::Message EncodeLastChunk() {
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

bool ParseChunk(std::string bytes, const std::shared_ptr<const shared_memory::View>& memory, ParsedChunk* chunk) {
  mesh::v1::Chunk head;
  SharedBytes data;
  if (!ParseWithBody(std::move(bytes), mesh::v1::Chunk::kDataFieldNumber, &head, &data)) return false;
  if (head.layout().empty()) {
    if (!data.empty()) chunk->pieces.push_back(std::move(data));
  } else {
    if (!memory) return false;
    const auto leased = std::make_shared<const shared_memory::LeasedMemory>(memory, head.slot(), head.lease());
    if (!PutTogether(head.layout(), data, leased, &chunk->pieces)) return false;
  }
  chunk->last = head.last();
  chunk->code = head.code();
  chunk->headers = FromProto(std::move(*head.mutable_headers()));
  chunk->position = {head.position(), head.bookmark()};
  chunk->complete = head.complete();
  return true;
}

meta::ApiError ToApiError(const grpc::Status& status) {
  switch (status.code) {
    case grpc::Code::kDeadlineExceeded: return meta::Timeout("request did not complete within the allotted timeout");
    case grpc::Code::kUnavailable:
    case grpc::Code::kCancelled:
      return meta::ServiceUnavailable("the server is currently unable to handle the request", 1);
    default: return meta::InternalError(status.message);
  }
}

}  // namespace apimesh::mesh
