#include "lib/endpoint/output/watch_encoder.h"

#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/endpoint/output/encode.h"
#include "lib/endpoint/output/partial_metadata.h"

namespace apimesh::endpoint {
namespace {

namespace json = meta::json;
using storage::Event;

constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";

std::string_view TypeName(Event::Type type) {
  switch (type) {
    case Event::Type::kAdded: return "ADDED";
    case Event::Type::kModified: return "MODIFIED";
    case Event::Type::kDeleted: return "DELETED";
    case Event::Type::kBookmark: return "BOOKMARK";
    case Event::Type::kError: return "ERROR";
  }
  return "";
}

std::string JsonFrame(std::string_view type, std::string_view object) {
  std::string frame;
  frame.reserve(object.size() + 40);
  frame += "{\"type\":\"";
  frame += type;
  frame += "\",\"object\":";
  frame += object;
  frame += "}\n";
  return frame;
}

const schema::Node* MetaNode(const ResourceRequest& request, std::string_view definition) {
  return request.env->meta_schema ? request.env->meta_schema->Find(definition) : nullptr;
}

}  // namespace

meta::Result<WatchEncoder> WatchEncoder::New(RequestPtr request) {
  IncludeObject include = IncludeObject::kMetadata;
  if (request->output.as == "Table") {
    ASSIGN_OR_RETURN(include, ParseIncludeObject(request->query));
  }
  return WatchEncoder(std::move(request), include);
}

std::string WatchEncoder::ContentType() const {
  return request_->output.format == codec::Format::kJson ? "application/json"
                                                         : "application/vnd.kubernetes.protobuf;stream=watch";
}

std::string WatchEncoder::Frame(std::string_view type, std::string object_json, const schema::Node* node) const {
  if (request_->output.format == codec::Format::kProtobuf) {
    return codec::WriteProtobufWatchFrame(type, Convert(request_->output, std::move(object_json), node));
  }
  return JsonFrame(type, object_json);
}

std::string WatchEncoder::Transform(std::string_view text) {
  if (request_->output.as == "Table") return TableOf(*request_, text, include_, std::exchange(headers_, false));
  if (!request_->output.as.empty()) return PartialMetadataOf(*request_, text);
  return std::string(text);
}

std::string WatchEncoder::Bookmark(const Event& event) {
  meta::Object object;
  object.SetGvk(request_->Resource().gvk);
  object.SetMeta("resourceVersion", std::to_string(event.revision));
  if (event.initial_events_end) meta::MakeObject(object.Metadata(), "annotations")[kInitialEventsEnd] = "true";
  // An empty object of the kind, with the fields that its Go type always writes.
  if (!codec::Normalise(object.Root(), *request_->Resource().schema, nullptr)) return "{}";
  return codec::WriteJson(object.Root());
}

SharedBytes WatchEncoder::Encode(const Event& event) {
  const std::string_view type = TypeName(event.type);
  if (event.type == Event::Type::kError) {
    return SharedBytes(Frame(type, codec::WriteJson(event.error.ToStatus()),
                             MetaNode(*request_, "io.k8s.apimachinery.pkg.apis.meta.v1.Status")));
  }
  const bool plain = request_->output.as.empty();
  if (event.type == Event::Type::kBookmark || !plain) {
    const std::string text =
        event.type == Event::Type::kBookmark ? Bookmark(event) : std::string(event.object->Json().View());
    const schema::Node* node = plain
                                   ? request_->Resource().schema
                                   : MetaNode(*request_, "io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadata");
    return SharedBytes(Frame(type, Transform(text), node));
  }
  if (request_->output.format == codec::Format::kJson) {
    const auto make = [type](std::string_view text) { return JsonFrame(type, text); };
    return event.object->Encoded(fmt::format("watch.{}", type), make);
  }
  const SharedBytes envelope =
      ProtobufOf(*request_->served, *event.object);  // not in `make`, which may run under a lock
  const auto make = [&envelope, type](std::string_view) {
    return codec::WriteProtobufWatchFrame(type, envelope.View());
  };
  return event.object->Encoded(fmt::format("watch.protobuf.{}", type), make);
}

}  // namespace apimesh::endpoint
