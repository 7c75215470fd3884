#include "lib/mesh/delegate/delegate_proto.h"
#include "lib/mesh/delegate/wire.h"

namespace apimesh::mesh {
namespace {

using mesh::v1::ExtraValue;
using mesh::v1::Header;
using Info = mesh::v1::RequestInfo;
using Wire = mesh::v1::Request;
using User = mesh::v1::User;

void Write(WireWriter& out, const meta::UserInfo& user) {
  out.Text(User::kNameFieldNumber, user.name);
  out.Text(User::kUidFieldNumber, user.uid);
  for (const std::string& group : user.groups) out.Element(User::kGroupsFieldNumber, group);
  for (const auto& extra : user.extra) {  // clang 14, which builds the fuzz targets, cannot capture structured bindings
    out.Nested(User::kExtraFieldNumber, [&] {
      out.Text(1, extra.first);  // the key of a map entry
      out.Nested(2, [&] {
        for (const std::string& value : extra.second) out.Element(ExtraValue::kValuesFieldNumber, value);
      });
    });
  }
}

void Write(WireWriter& out, const meta::RequestInfo& info) {
  out.Number(Info::kIsResourceRequestFieldNumber, info.is_resource_request ? 1 : 0);
  out.Text(Info::kVerbFieldNumber, info.verb.Text());
  out.Text(Info::kApiPrefixFieldNumber, info.api_prefix);
  out.Text(Info::kApiGroupFieldNumber, info.api_group);
  out.Text(Info::kApiVersionFieldNumber, info.api_version);
  out.Text(Info::kNamespaceFieldNumber, info.ns);
  out.Text(Info::kResourceFieldNumber, info.resource);
  out.Text(Info::kSubresourceFieldNumber, info.subresource);
  out.Text(Info::kNameFieldNumber, info.name);
  for (const std::string& part : info.parts) out.Element(Info::kPartsFieldNumber, part);
  out.Text(Info::kFieldSelectorFieldNumber, info.field_selector);
  out.Text(Info::kLabelSelectorFieldNumber, info.label_selector);
}

bool Read(std::string_view bytes, std::pair<std::string, std::vector<std::string>>& extra) {
  WireReader in(bytes);
  while (in.Next()) {
    if (in.Field() == 1) extra.first = in.Text();
    if (in.Field() != 2) continue;
    WireReader values(in.Text());
    while (values.Next()) {
      if (values.Field() == ExtraValue::kValuesFieldNumber) extra.second.emplace_back(values.Text());
    }
    if (!values.Good()) return false;
  }
  return in.Good();
}

bool Read(std::string_view bytes, meta::UserInfo& user) {
  WireReader in(bytes);
  while (in.Next()) {
    switch (in.Field()) {
      case User::kNameFieldNumber: user.name = in.Text(); break;
      case User::kUidFieldNumber: user.uid = in.Text(); break;
      case User::kGroupsFieldNumber: user.groups.emplace_back(in.Text()); break;
      case User::kExtraFieldNumber: {
        std::pair<std::string, std::vector<std::string>> extra;
        if (!Read(in.Text(), extra)) return false;
        user.extra.insert_or_assign(std::move(extra.first), std::move(extra.second));
        break;
      }
      default: break;
    }
  }
  return in.Good();
}

bool Read(std::string_view bytes, meta::RequestInfo& info) {
  WireReader in(bytes);
  while (in.Next()) {
    switch (in.Field()) {
      case Info::kIsResourceRequestFieldNumber: info.is_resource_request = in.Number() != 0; break;
      case Info::kVerbFieldNumber: info.verb = in.Text(); break;
      case Info::kApiPrefixFieldNumber: info.api_prefix = in.Text(); break;
      case Info::kApiGroupFieldNumber: info.api_group = in.Text(); break;
      case Info::kApiVersionFieldNumber: info.api_version = in.Text(); break;
      case Info::kNamespaceFieldNumber: info.ns = in.Text(); break;
      case Info::kResourceFieldNumber: info.resource = in.Text(); break;
      case Info::kSubresourceFieldNumber: info.subresource = in.Text(); break;
      case Info::kNameFieldNumber: info.name = in.Text(); break;
      case Info::kPartsFieldNumber: info.parts.emplace_back(in.Text()); break;
      case Info::kFieldSelectorFieldNumber: info.field_selector = in.Text(); break;
      case Info::kLabelSelectorFieldNumber: info.label_selector = in.Text(); break;
      default: break;
    }
  }
  return in.Good();
}

bool Read(std::string_view bytes, std::pair<std::string, std::string>& header) {
  WireReader in(bytes);
  while (in.Next()) {
    if (in.Field() == Header::kNameFieldNumber) header.first = in.Text();
    if (in.Field() == Header::kValueFieldNumber) header.second = in.Text();
  }
  return in.Good();
}

}  // namespace

grpc::Message Encode(Request&& request) {
  std::string head;
  head.reserve(768);
  WireWriter out(head);
  out.Text(Wire::kClusterFieldNumber, request.cluster);
  out.Text(Wire::kMethodFieldNumber, request.method);
  out.Text(Wire::kPathFieldNumber, request.path);
  out.Text(Wire::kQueryFieldNumber, request.query);
  for (const auto& header : request.headers) {
    out.Nested(Wire::kHeadersFieldNumber, [&] {
      out.Text(Header::kNameFieldNumber, header.first);
      out.Text(Header::kValueFieldNumber, header.second);
    });
  }
  out.Nested(Wire::kUserFieldNumber, [&] { Write(out, request.user); });
  out.Nested(Wire::kInfoFieldNumber, [&] { Write(out, request.info); });
  out.Text(Wire::kAuditIdFieldNumber, request.audit_id);
  out.Text(Wire::kTraceparentFieldNumber, request.traceparent);
  out.Text(Wire::kRemoteAddressFieldNumber, request.remote_address);
  out.Number(Wire::kWatchPhaseFieldNumber, static_cast<std::uint64_t>(request.watch_phase));
  grpc::Message message;
  if (request.body.empty()) {
    message.emplace_back(std::move(head));
    return message;
  }
  out.Varint(Wire::kBodyFieldNumber << 3 | 2);
  out.Varint(request.body.size());
  message.emplace_back(std::move(head));
  message.emplace_back(std::move(request.body));
  return message;
}

bool ParseRequest(std::string_view bytes, Request* request) {
  WireReader in(bytes);
  request->headers.reserve(8);
  while (in.Next()) {
    bool good = true;
    switch (in.Field()) {
      case Wire::kClusterFieldNumber: request->cluster = in.Text(); break;
      case Wire::kMethodFieldNumber: request->method = in.Text(); break;
      case Wire::kPathFieldNumber: request->path = in.Text(); break;
      case Wire::kQueryFieldNumber: request->query = in.Text(); break;
      case Wire::kHeadersFieldNumber: good = Read(in.Text(), request->headers.emplace_back()); break;
      case Wire::kBodyFieldNumber: request->body = in.Text(); break;
      case Wire::kUserFieldNumber: good = Read(in.Text(), request->user); break;
      case Wire::kInfoFieldNumber: good = Read(in.Text(), request->info); break;
      case Wire::kAuditIdFieldNumber: request->audit_id = in.Text(); break;
      case Wire::kTraceparentFieldNumber: request->traceparent = in.Text(); break;
      case Wire::kRemoteAddressFieldNumber: request->remote_address = in.Text(); break;
      case Wire::kWatchPhaseFieldNumber: request->watch_phase = static_cast<v1::WatchPhase>(in.Number()); break;
      default: break;
    }
    if (!good) return false;
  }
  request->info.path = request->path;
  return in.Good();
}

}  // namespace apimesh::mesh
