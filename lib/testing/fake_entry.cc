#include "lib/testing/fake_entry.h"

#include <algorithm>

#include <boost/json/serialize.hpp>

namespace apimesh::testing {
namespace json = meta::json;

meta::Object WithRevision(const meta::Object& object, storage::Revision revision) {
  meta::Object copy = object;
  json::object ordered;
  const json::string text(std::to_string(revision));
  bool placed = false;
  for (const auto& [key, value] : object.Metadata()) {
    const bool before = key == "name" || key == "generateName" || key == "namespace" || key == "uid";
    if (!before && !placed) {
      ordered["resourceVersion"] = text;
      placed = true;
    }
    if (key != "resourceVersion") ordered[key] = value;
  }
  if (!placed) ordered["resourceVersion"] = text;
  copy.Metadata() = std::move(ordered);
  return copy;
}

FakeEntry::FakeEntry(storage::Key key, meta::Object object, storage::Revision revision,
                     const storage::ResourceConfig& config)
    : key_(std::move(key)),
      object_(WithRevision(object, revision)),
      revision_(revision),
      json_(json::serialize(object_.Root())) {
  if (const json::value* labels = meta::FindField(object_.Metadata(), "labels"); labels && labels->is_object()) {
    for (const auto& [name, value] : labels->get_object()) {
      labels_.emplace_back(std::string(name), value.is_string() ? std::string(value.get_string()) : "");
    }
    std::sort(labels_.begin(), labels_.end());
  }
  fields_["metadata.name"] = object_.Name();
  fields_["metadata.namespace"] = object_.Namespace();
  if (config.read_fields) {
    const std::vector<std::string> values = config.read_fields(object_);
    for (std::size_t i = 0; i < values.size() && i < config.selectable_fields.size(); ++i) {
      fields_[config.selectable_fields[i]] = values[i];
    }
  }
}

std::string_view FakeEntry::FieldValue(std::string_view field) const {
  const auto it = fields_.find(field);
  return it == fields_.end() ? std::string_view() : std::string_view(it->second);
}

SharedBytes FakeEntry::Encoded(std::string_view encoding,
                               const std::function<std::string(std::string_view json)>& make) const {
  if (SharedBytes kept = encodings_->Find(encoding); kept.Owner()) return kept;
  return encodings_->Keep(encoding, SharedBytes(make(json_.View())));
}

SharedBytes FakeEntry::EncodedAt(WallTime now, std::string_view encoding,
                                 const std::function<Timed(std::string_view json)>& make) const {
  if (SharedBytes kept = encodings_->Find(encoding, now); kept.Owner()) return kept;
  const Timed made = make(json_.View());
  return encodings_->Keep(encoding, SharedBytes(made.text), {now, made.until});
}

}  // namespace apimesh::testing
