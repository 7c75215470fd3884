#include "lib/endpoint/encode.h"

#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/endpoint/partial_metadata.h"
#include "lib/endpoint/table.h"

namespace apimesh::endpoint {
namespace {

namespace json = meta::json;
using codec::Format;

constexpr std::string_view kStatus = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";
constexpr std::string_view kPartial = "io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadata";

const schema::Node* MetaNode(const ResourceRequest& request, std::string_view definition) {
  return request.env->meta_schema ? request.env->meta_schema->Find(definition) : nullptr;
}

rpc::Response Body(const ResourceRequest& request, int code, SharedBytes bytes) {
  rpc::Response response;
  response.code = code;
  response.headers.emplace_back("content-type", std::string(codec::MediaTypeOf(request.output.format)));
  response.body.push_back(std::move(bytes));
  return response;
}

bool PlainJson(const codec::OutputType& output) {
  return output.format == Format::kJson && output.as.empty() && !output.pretty;
}

std::string Protobuf(std::string_view text, const schema::Node& node) {
  meta::Result<json::value> value = codec::ParseJson(text, meta::NewArena());
  return value && value->is_object() ? codec::WriteProtobuf(value->get_object(), node) : std::string();
}

/// An object as a Table or as its metadata; nullopt: as it is.
meta::Result<std::optional<std::string>> Transform(const ResourceRequest& request, std::string_view text) {
  if (request.output.as.empty()) return std::optional<std::string>();
  if (request.output.as == "Table") {
    ASSIGN_OR_RETURN(const IncludeObject include, ParseIncludeObject(request.query));
    return std::optional<std::string>(TableOf(request, text, include, !request.query.Bool("noHeaders").value_or(false)));
  }
  if (request.output.as == "PartialObjectMetadataList") {
    return meta::NotAcceptable("you requested PartialObjectMetadataList, but the requested object is not a list");
  }
  return std::optional<std::string>(PartialMetadataOf(request, text));
}

}  // namespace

std::string Convert(const ResourceRequest& request, std::string text, const schema::Node* node) {
  switch (request.output.format) {
    case Format::kProtobuf: return node ? Protobuf(text, *node) : text;
    case Format::kYaml: {
      meta::Result<json::value> value = codec::ParseJson(text, meta::NewArena());
      return value ? codec::WriteYaml(*value) : text;
    }
    case Format::kJson: break;
  }
  if (!request.output.pretty) return text;
  meta::Result<json::value> value = codec::ParseJson(text, meta::NewArena());
  return value ? codec::WritePrettyJson(*value) : text;
}

SharedBytes ProtobufOf(const ServedResource& served, const storage::Entry& entry) {
  const auto make = [&served](std::string_view text) { return Protobuf(text, *served.resource.schema); };
  return entry.Encoded("protobuf", make);
}

meta::Result<rpc::Response> ObjectResponse(const ResourceRequest& request, int code, const storage::EntryPtr& entry) {
  if (PlainJson(request.output)) return Body(request, code, entry->Json());
  if (request.output.format == Format::kProtobuf && request.output.as.empty()) {
    return Body(request, code, ProtobufOf(*request.served, *entry));
  }
  ASSIGN_OR_RETURN(std::optional<std::string> other, Transform(request, entry->Json().View()));
  const schema::Node* node = other ? MetaNode(request, kPartial) : request.Resource().schema;
  return Body(request, code, SharedBytes(Convert(request, other ? *other : std::string(entry->Json().View()), node)));
}

meta::Result<rpc::Response> ObjectResponse(const ResourceRequest& request, int code, const meta::Object& object) {
  std::string text = codec::WriteJson(object.Root());
  ASSIGN_OR_RETURN(std::optional<std::string> other, Transform(request, text));
  const schema::Node* node = other ? MetaNode(request, kPartial) : &request.BodySchema();
  return Body(request, code, SharedBytes(Convert(request, other ? std::move(*other) : std::move(text), node)));
}

rpc::Response StatusResponse(const ResourceRequest& request, int code, const json::object& status) {
  const schema::Node* node = MetaNode(request, kStatus);
  rpc::Response response = Body(request, code, SharedBytes(Convert(request, codec::WriteJson(status), node)));
  if (request.output.format == Format::kProtobuf && !node) response.headers.front().second = "application/json";
  return response;
}

rpc::Response ErrorResponse(const ResourceRequest& request, const meta::ApiError& error) {
  rpc::Response response = StatusResponse(request, error.Code(), error.ToStatus());
  if (const int seconds = error.Get().retry_after_seconds; seconds > 0) {
    response.headers.emplace_back("retry-after", std::to_string(seconds));
  }
  AddWarnings(request.ctx, response.headers);
  return response;
}

void AddWarnings(const meta::RequestContext& ctx, rpc::Headers& headers) {
  std::vector<std::string> said;
  for (const std::string& text : ctx.Warnings()) {
    if (std::find(said.begin(), said.end(), text) != said.end()) continue;
    said.push_back(text);
    std::string escaped;
    for (const char c : text) {
      if (c == '"' || c == '\\') escaped += '\\';
      if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) escaped += c;
    }
    headers.emplace_back("warning", fmt::format("299 - \"{}\"", escaped));
  }
}

}  // namespace apimesh::endpoint
