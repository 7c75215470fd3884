#include "lib/endpoint/output/encode.h"

#include <set>

#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/endpoint/output/partial_metadata.h"
#include "lib/endpoint/output/table.h"
#include "lib/endpoint/spans.h"
#include "lib/mesh/audit_headers.h"
#include "lib/tracing/step.h"

namespace apimesh::endpoint {
namespace {

namespace json = meta::json;
using codec::Format;

constexpr std::string_view kStatus = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";
constexpr std::string_view kPartial = "io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadata";

const schema::Node* MetaNode(const ResourceRequest& request, std::string_view definition) {
  return request.env->meta_schema ? request.env->meta_schema->Find(definition) : nullptr;
}

mesh::Response Body(const codec::OutputType& output, int code, SharedBytes bytes) {
  mesh::Response response;
  response.code = code;
  response.headers.emplace_back("content-type", std::string(codec::MediaTypeOf(output.format)));
  response.body.push_back(std::move(bytes));
  // Go's JSON encoder writes a line feed after a document, except if it indents.
  static const SharedBytes kLineFeed("\n");
  if (output.format == Format::kJson && !output.pretty) response.body.push_back(kLineFeed);
  return response;
}

mesh::Response Status(const ResourceRequest& request, const codec::OutputType& output, int code,
                      const json::object& status) {
  const schema::Node* node = MetaNode(request, kStatus);
  mesh::Response response = Body(output, code, SharedBytes(Convert(output, codec::WriteJson(status), node)));
  if (output.format == Format::kProtobuf && !node) response.headers.front().second = "application/json";
  return response;
}

/// Errors are never encoded as tables, and can be encoded as protobuf for every kind. If the client accepts no
/// supported format, the error is indented JSON.
codec::OutputType ErrorOutput(const ResourceRequest& request) {
  const meta::Result<codec::OutputType> plain =
      codec::NegotiateOutput(request.http.Header("accept"), {.protobuf = true, .transforms = false});
  codec::OutputType output = plain ? *plain : codec::OutputType{.pretty = true};
  output.pretty |= codec::WantsPretty(request.query.First("pretty"), request.http.Header("user-agent"));
  return output;
}

bool PlainJson(const codec::OutputType& output) {
  return output.format == Format::kJson && output.as.empty() && !output.pretty;
}

std::string Protobuf(std::string_view text, const schema::Node& node) {
  meta::Result<json::value> value = codec::ParseJson(text, meta::NewArena());
  return value && value->is_object() ? codec::WriteProtobuf(value->get_object(), node) : std::string();
}

/// Returns the object as a Table or as its metadata, or nullopt if no transformation was negotiated.
meta::Result<std::optional<std::string>> Transform(const ResourceRequest& request, std::string_view text) {
  if (request.output.as.empty()) return std::optional<std::string>();
  if (request.output.as == "Table") {
    ASSIGN_OR_RETURN(const IncludeObject include, ParseIncludeObject(request.query));
    return std::optional<std::string>(
        TableOf(request, text, include, !request.query.Bool("noHeaders").value_or(false)));
  }
  if (request.output.as == "PartialObjectMetadataList") {
    return meta::NotAcceptable(fmt::format(
        "you requested PartialObjectMetadataList, but the requested object is not a list ({})", GoType(request)));
  }
  return std::optional<std::string>(PartialMetadataOf(request, text));
}

}  // namespace

std::string Convert(const codec::OutputType& output, std::string text, const schema::Node* node) {
  switch (output.format) {
    case Format::kProtobuf: return node ? Protobuf(text, *node) : text;
    case Format::kYaml: {
      meta::Result<json::value> value = codec::ParseJson(text, meta::NewArena());
      return value ? codec::WriteYaml(*value) : text;
    }
    case Format::kJson: break;
  }
  if (!output.pretty) return text;
  meta::Result<json::value> value = codec::ParseJson(text, meta::NewArena());
  return value ? codec::WritePrettyJson(*value) : text;
}

SharedBytes ProtobufOf(const ServedResource& served, const storage::Entry& entry) {
  const auto make = [&served](std::string_view text) { return Protobuf(text, *served.resource.schema); };
  return entry.Encoded("protobuf", make);
}

meta::Result<mesh::Response> ObjectResponse(const ResourceRequest& request, int code, const storage::EntryPtr& entry) {
  const tracing::Step step(SerializeSpan(request));
  if (PlainJson(request.output)) return Body(request.output, code, entry->Json());
  if (request.output.format == Format::kProtobuf && request.output.as.empty()) {
    return Body(request.output, code, ProtobufOf(*request.served, *entry));
  }
  ASSIGN_OR_RETURN(std::optional<std::string> other, Transform(request, entry->Json().View()));
  const schema::Node* node = other ? MetaNode(request, kPartial) : request.Resource().schema;
  return Body(request.output, code,
              SharedBytes(Convert(request.output, other ? *other : std::string(entry->Json().View()), node)));
}

meta::Result<mesh::Response> ObjectResponse(const ResourceRequest& request, int code, const meta::Object& object) {
  const tracing::Step step(SerializeSpan(request));
  std::string text = codec::WriteJson(object.Root());
  ASSIGN_OR_RETURN(std::optional<std::string> other, Transform(request, text));
  const schema::Node* node = other ? MetaNode(request, kPartial) : &request.BodySchema();
  return Body(request.output, code,
              SharedBytes(Convert(request.output, other ? std::move(*other) : std::move(text), node)));
}

mesh::Response StatusResponse(const ResourceRequest& request, int code, const json::object& status) {
  const tracing::Step step(SerializeSpan(request));
  return Status(request, request.output, code, status);
}

mesh::Response ErrorResponse(const ResourceRequest& request, const meta::ApiError& error) {
  const tracing::Step step(SerializeSpan(request));
  mesh::Response response = Status(request, ErrorOutput(request), error.Code(), error.ToStatus());
  if (const int seconds = error.Get().retry_after_seconds; seconds > 0) {
    response.headers.emplace_back("retry-after", std::to_string(seconds));
  }
  AddWarnings(request.ctx, response.headers);
  return response;
}

std::string GoType(const ResourceRequest& request) {
  const meta::Gvk& kind = request.BodyKind();
  if (request.served->custom) return "*unstructured.Unstructured";
  return fmt::format("*{}.{}", kind.group.empty() ? "core" : kind.group.substr(0, kind.group.find('.')), kind.kind);
}

namespace {

// As in kube-apiserver: if all warnings together have more than kMaxWarningRunes characters, each is cut to
// kCutWarningRunes, and no further warnings are added once kMaxWarningRunes is reached.
constexpr std::size_t kMaxWarningRunes = 4096;
constexpr std::size_t kCutWarningRunes = 256;

/// Returns the length in bytes of the first `runes` characters of a UTF-8 text, and the number of characters in it.
std::pair<std::size_t, std::size_t> Prefix(std::string_view text, std::size_t runes) {
  std::size_t count = 0, at = 0;
  for (; at < text.size(); ++at) {
    if ((text[at] & 0xc0) == 0x80) continue;
    if (count == runes) break;
    ++count;
  }
  return {at, count};
}

std::string WarningHeader(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) escaped += c;
  }
  return fmt::format("299 - \"{}\"", escaped);
}

}  // namespace

void AddWarnings(const meta::RequestContext& ctx, mesh::Headers& headers) {
  std::vector<std::string_view> texts;
  std::set<std::string_view> said;
  std::size_t total = 0;
  for (const std::string& text : ctx.Warnings()) {
    if (!said.insert(text).second) continue;
    texts.push_back(text);
    total += Prefix(text, kMaxWarningRunes + 1).second;
  }
  const bool cut = total > kMaxWarningRunes;
  std::size_t written = 0;
  for (const std::string_view text : texts) {
    if (cut && written >= kMaxWarningRunes) return;
    const auto [length, runes] = Prefix(text, cut ? kCutWarningRunes : kMaxWarningRunes);
    headers.emplace_back("warning", WarningHeader(text.substr(0, length)));
    written += runes;
  }
}

void AddAuditAnnotations(const meta::RequestContext& ctx, mesh::Headers& headers) {
  for (const auto& [key, value] : ctx.AuditAnnotations()) {
    headers.emplace_back(mesh::kAuditAnnotationHeader, fmt::format("{}={}", key, value));
  }
}

void AddAdmissionHeaders(const meta::RequestContext& ctx, mesh::Headers& headers) {
  AddWarnings(ctx, headers);
  AddAuditAnnotations(ctx, headers);
}

}  // namespace apimesh::endpoint
