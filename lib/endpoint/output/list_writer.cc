#include "lib/endpoint/output/list_writer.h"

#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/endpoint/output/encode.h"
#include "lib/endpoint/output/list_layout.h"
#include "lib/endpoint/output/partial_metadata.h"
#include "lib/endpoint/output/protobuf_frames.h"
#include "lib/endpoint/output/table.h"
#include "lib/endpoint/storage_config.h"

namespace apimesh::endpoint {
namespace {

namespace json = meta::json;

std::string MetaJson(const ListMeta& meta) {
  json::object out;
  if (!meta.resource_version.empty()) out["resourceVersion"] = meta.resource_version;
  if (!meta.continue_token.empty()) out["continue"] = meta.continue_token;
  if (meta.remaining) out["remainingItemCount"] = *meta.remaining;
  return codec::WriteJson(out);
}

/// Writes compact JSON, with commas between items.
class JsonWriter : public ListWriter {
 public:
  explicit JsonWriter(RequestPtr request) : request_(std::move(request)) {}

  void AppendItem(Pieces& out, const storage::EntryPtr& entry) final {
    if (!first_) out.Text(",");
    first_ = false;
    AppendOne(out, entry);
  }
  void Continue(bool after_others) override { first_ = !after_others; }
  std::string Tail(const ListMeta&) override { return "]}\n"; }
  /// Appends one item without a separator.
  virtual void AppendOne(Pieces& out, const storage::EntryPtr& entry) = 0;

 protected:
  RequestPtr request_;

 private:
  bool first_ = true;
};

/// Writes the same list in another layout (YAML, indented JSON), item by item.
class ConvertedList final : public ListWriter {
 public:
  ConvertedList(RequestPtr request, std::unique_ptr<JsonWriter> compact)
      : request_(std::move(request)), compact_(std::move(compact)) {}

  std::string Head(const ListMeta& meta) override {
    layout_.emplace(request_->output, compact_->Head(meta), compact_->Tail(meta));
    return "";  // layout_ writes the head, which is different for a list without items
  }
  void AppendItem(Pieces& out, const storage::EntryPtr& entry) override {
    Pieces item;
    compact_->AppendOne(item, entry);
    out.Text(layout_->Before());
    out.Text(layout_->Item(item.Join()));
  }
  std::string Tail(const ListMeta&) override { return layout_->End(); }

 private:
  const RequestPtr request_;
  const std::unique_ptr<JsonWriter> compact_;
  std::optional<ListLayout> layout_;
};

/// Returns the JSON of an object without kind and apiVersion.
std::string WithoutType(std::string_view text) {
  meta::Result<json::value> value = codec::ParseJson(text, meta::NewArena());
  if (!value || !value->is_object()) return "{}";  // cannot happen: the cache has parsed it
  meta::EraseField(value->get_object(), "kind");
  meta::EraseField(value->get_object(), "apiVersion");
  return codec::WriteJson(*value);
}

/// Lists a built-in kind. Its items have no kind and apiVersion; in the store, every object begins with them.
class ObjectList final : public JsonWriter {
 public:
  explicit ObjectList(RequestPtr request) : JsonWriter(std::move(request)) {
    prefix_ = TypePrefix(request_->Resource().gvk);
  }
  std::string Head(const ListMeta& meta) override {
    const meta::Gvk& gvk = request_->Resource().gvk;
    return fmt::format("{{\"kind\":\"{}List\",\"apiVersion\":\"{}\",\"metadata\":{},\"items\":[", gvk.kind,
                       gvk.ApiVersion(), MetaJson(meta));
  }
  std::string ItemEncoding() const override { return "untyped"; }
  void AppendOne(Pieces& out, const storage::EntryPtr& entry) override {
    const std::string_view text = entry->JsonText();
    // TypePrefix() is compared first, because it is stored in the entry. The bytes of an object that is shared with
    // another process, and their reference count, are usually not in the cache of this CPU.
    if (entry->TypePrefix() == prefix_ || text.starts_with(prefix_)) {
      out.Text("{");
      out.Shared(entry, text.substr(prefix_.size()));
      return;
    }
    // The object was stored by another writer (with spaces or another key order). A GET returns it unchanged; the list
    // item is encoded once and cached.
    out.Shared(entry->Encoded("item", &WithoutType));
  }

 private:
  std::string prefix_;
};

/// Lists a custom resource: a document with sorted keys, in which metadata is last.
class CustomList final : public JsonWriter {
 public:
  using JsonWriter::JsonWriter;
  std::string Head(const ListMeta&) override {
    return fmt::format("{{\"apiVersion\":\"{}\",\"items\":[", request_->Resource().gvk.ApiVersion());
  }
  std::string ItemEncoding() const override { return "json"; }
  std::string Tail(const ListMeta& meta) override {
    json::object out;
    out["continue"] = meta.continue_token;
    if (meta.remaining) out["remainingItemCount"] = *meta.remaining;
    out["resourceVersion"] = meta.resource_version;
    return fmt::format("],\"kind\":\"{}List\",\"metadata\":{}}}\n", request_->Resource().gvk.kind,
                       codec::WriteJson(out));
  }
  void AppendOne(Pieces& out, const storage::EntryPtr& entry) override { out.Shared(entry, entry->JsonText()); }
};

class TableList final : public JsonWriter {
 public:
  TableList(RequestPtr request, IncludeObject include) : JsonWriter(std::move(request)), include_(include) {}
  bool Sorts() const override { return SortsRows(*request_->served); }
  std::int64_t ItemOrder(const storage::Entry& entry) const override {
    return RowOrder(*request_->served, entry.JsonText());
  }
  std::string Head(const ListMeta& meta) override {
    const bool headers = !request_->query.Bool("noHeaders").value_or(false);
    return fmt::format("{{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/{}\",\"metadata\":{},{},\"rows\":[",
                       request_->output.as_version, MetaJson(meta),
                       headers ? TableColumns(*request_->served) : "\"columnDefinitions\":null");
  }
  void AppendOne(Pieces& out, const storage::EntryPtr& entry) override {
    AppendTableRow(out, *request_, entry, include_);
  }

 private:
  IncludeObject include_;
};

class MetadataList final : public JsonWriter {
 public:
  using JsonWriter::JsonWriter;
  std::string Head(const ListMeta& meta) override {
    return fmt::format(
        "{{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/{}\",\"metadata\":{},\"items\":[",
        request_->output.as_version, MetaJson(meta));
  }
  std::string ItemEncoding() const override { return "metadata." + request_->output.as_version; }
  void AppendOne(Pieces& out, const storage::EntryPtr& entry) override { AppendPartialMetadata(out, *request_, entry); }
};

/// Writes a protobuf list from messages that are cached with their objects. The list message contains its size, so the
/// items are measured first. They are not joined.
class ProtobufList final : public ListWriter {
 public:
  /// Returns the envelope of one item.
  using ItemFn = std::function<SharedBytes(const storage::Entry& entry)>;
  ProtobufList(meta::Gvk kind, std::string encoding, ItemFn item)
      : kind_(std::move(kind)), encoding_(std::move(encoding)), item_(std::move(item)) {}

  bool MeasuresFirst() const override { return true; }
  void Measure(const storage::Entry& entry) override {
    const std::size_t size = UnwrapEnvelope(item_(entry).View()).size();
    items_bytes_ += ItemFieldHead(size).size() + size;
  }
  std::string Head(const ListMeta& meta) override {
    const std::string about = ListMetaField(meta.resource_version, meta.continue_token, meta.remaining);
    return EnvelopeHead(kind_, about.size() + items_bytes_) + about;
  }
  void AppendItem(Pieces& out, const storage::EntryPtr& entry) override {
    const SharedBytes bytes = item_(*entry);
    const std::string_view message = UnwrapEnvelope(bytes.View());
    out.Text(ItemFieldHead(message.size()));
    out.Shared(bytes, message);
  }
  std::string Tail(const ListMeta&) override { return EnvelopeTail(); }
  std::string ItemEncoding() const override { return encoding_; }

 private:
  const meta::Gvk kind_;
  const std::string encoding_;
  const ItemFn item_;
  std::size_t items_bytes_ = 0;
};

std::unique_ptr<ListWriter> NewProtobufList(RequestPtr request) {
  meta::Gvk kind = request->Resource().gvk;
  kind.kind += "List";
  const auto item = [request](const storage::Entry& entry) { return ProtobufOf(*request->served, entry); };
  return std::make_unique<ProtobufList>(std::move(kind), "protobuf", item);
}

std::unique_ptr<ListWriter> NewProtobufMetadataList(RequestPtr request) {
  const std::string& version = request->output.as_version;
  const schema::Schema* schema = request->env->meta_schema;
  const schema::Node* node =
      schema ? schema->Find("io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadata") : nullptr;
  const std::string encoding = "metadata.protobuf." + version;
  const auto item = [request, node, encoding](const storage::Entry& entry) {
    const auto make = [&](std::string_view text) {
      return Convert(request->output, PartialMetadataOf(*request, text), node);
    };
    return entry.Encoded(encoding, make);
  };
  return std::make_unique<ProtobufList>(meta::Gvk{"meta.k8s.io", version, "PartialObjectMetadataList"}, encoding, item);
}

}  // namespace

meta::Result<std::unique_ptr<ListWriter>> NewListWriter(RequestPtr request) {
  const codec::OutputType& output = request->output;
  const bool protobuf = output.format == codec::Format::kProtobuf;
  std::unique_ptr<JsonWriter> writer;
  if (output.as == "Table") {
    ASSIGN_OR_RETURN(const IncludeObject include, ParseIncludeObject(request->query));
    writer = std::make_unique<TableList>(request, include);
  } else if (output.as == "PartialObjectMetadataList") {
    if (protobuf) return NewProtobufMetadataList(request);
    writer = std::make_unique<MetadataList>(request);
  } else if (output.as == "PartialObjectMetadata") {
    return meta::NotAcceptable(fmt::format(
        "you requested PartialObjectMetadata, but the requested object is a list ({}List)", GoType(*request)));
  } else if (protobuf) {
    return NewProtobufList(request);
  } else if (request->served->custom) {
    writer = std::make_unique<CustomList>(request);
  } else {
    writer = std::make_unique<ObjectList>(request);
  }
  if (!ListLayout::IsFor(output)) return std::unique_ptr<ListWriter>(std::move(writer));
  return std::unique_ptr<ListWriter>(std::make_unique<ConvertedList>(request, std::move(writer)));
}

}  // namespace apimesh::endpoint
