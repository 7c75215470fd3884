#include "lib/storage/entry/entry.h"

#include <array>
#include <mutex>

#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/shared_memory/segment.h"

namespace apimesh::storage {
namespace {

constexpr std::string_view kProtobufMagic("k8s\0", 4);
constexpr std::string_view kEncryptedMark("k8s:enc:");

/// Entries rarely create encodings at the same time, so they share a few locks instead of having one each.
std::mutex& EncodingLock(const void* entry) {
  static std::array<std::mutex, 64> locks;
  return locks[(reinterpret_cast<std::uintptr_t>(entry) >> 6) % locks.size()];
}

/// An encoding that will not be kept stays out of shared memory: a slow reader would hold its block and the leases
/// after it.
SharedBytes ShareIfKept(std::string made) {
  return Encodings::HasRoom(made.size()) ? shared_memory::Share({made}) : SharedBytes(std::move(made));
}

/// Decrypts a stored value. `plain` refers to `stored` or to `opened`.
meta::Result<> OpenStored(const EntryRecipe& recipe, std::string_view key, std::string_view stored,
                          encryption::Opened& opened, std::string_view& plain) {
  plain = stored;
  if (!recipe.encryption && !stored.starts_with(kEncryptedMark)) return {};
  auto result = recipe.Transformer()->Open(stored, fmt::format("{}{}", recipe.prefix, key));
  if (!result) {
    return meta::InternalError(
        fmt::format("unable to transform key \"{}{}\": {}", recipe.prefix, key, result.error().message));
  }
  opened = std::move(*result);
  plain = opened.plain;
  return {};
}

/// Returns the apiVersion of a stored value, or nullopt if it is not needed or cannot be read.
std::optional<std::string> ApiVersionOf(std::string_view stored, const ResourceConfig& config) {
  if (stored.starts_with(kProtobufMagic)) {
    const meta::Result<meta::Gvk> kind = codec::PeekProtobuf(stored);
    return kind ? std::optional(kind->ApiVersion()) : std::nullopt;
  }
  if (config.stored_api_version.empty() && (config.api_version.empty() || !config.to_json)) return std::nullopt;
  const auto scanned = ScanObject(stored, {});
  return scanned ? std::optional<std::string>(scanned->api_version) : std::nullopt;
}

}  // namespace

Task<meta::Result<>> EntryRecipe::FetchKey(std::shared_ptr<const EntryRecipe> recipe, std::string stored) {
  const encryption::Result<> unlocked = co_await recipe->Transformer()->FetchKey(std::move(stored));
  if (!unlocked && unlocked.error().temporary) co_return meta::ServiceUnavailable(unlocked.error().message, 1);
  co_return meta::Result<>();
}

meta::Result<CachedEntryPtr> CachedEntry::FromStored(const std::shared_ptr<const EntryRecipe>& recipe, std::string key,
                                                     Revision revision, std::string_view stored) {
  const ResourceConfig& config = recipe->config;
  encryption::Opened opened;
  RETURN_IF_ERROR(OpenStored(*recipe, key, stored, opened, stored));
  const std::optional<std::string> api_version = ApiVersionOf(stored, config);
  const bool protobuf = stored.starts_with(kProtobufMagic);
  const bool other_version =
      protobuf || (!config.api_version.empty() && config.to_json && api_version && *api_version != config.api_version);
  const bool outdated = !config.stored_api_version.empty() && api_version &&
                        (*api_version != config.stored_api_version || protobuf != config.stored_as_protobuf);
  std::string json;
  if (other_version) {
    if (!config.to_json) {
      return meta::InternalError(
          fmt::format("{}{} is stored as protobuf, which this resource does not support", recipe->prefix, key));
    }
    auto converted = config.to_json(stored);
    if (!converted) {
      return meta::InternalError(
          fmt::format("unable to decode key \"{}{}\": {}", recipe->prefix, key, converted.error().Message()));
    }
    json = std::move(*converted);
    stored = json;
  }
  ASSIGN_OR_RETURN(std::shared_ptr<CachedEntry> entry, Make(recipe, std::move(key), revision, stored));
  entry->stale_ = opened.stale || outdated;
  return CachedEntryPtr(std::move(entry));
}

Task<meta::Result<std::vector<CachedEntryPtr>>> CachedEntry::Convert(std::shared_ptr<const EntryRecipe> recipe,
                                                                     std::vector<StoredValue> values) {
  std::vector<CachedEntryPtr> entries(values.size());
  std::vector<std::size_t> positions;  // of the values in `texts`
  std::vector<std::string> texts;
  std::vector<std::pair<Digest, bool>> stored;  // the digest of the text, and whether it is stale
  for (std::size_t i = 0; i < values.size(); ++i) {
    encryption::Opened opened;
    std::string_view plain;
    const meta::Result<> readable = OpenStored(*recipe, values[i].key, values[i].value, opened, plain);
    if (!readable) {
      entries[i] = Unreadable(recipe, values[i].key, values[i].revision, readable.error());
      continue;
    }
    positions.push_back(i);
    texts.emplace_back(plain);
    stored.emplace_back(DigestOf(plain), opened.stale);
  }
  if (texts.empty()) co_return entries;
  ASSIGN_OR_CO_RETURN(const std::vector<std::string> converted, co_await recipe->config.conversion->read(texts));
  for (std::size_t n = 0; n < positions.size(); ++n) {
    const StoredValue& value = values[positions[n]];
    auto made = Make(recipe, value.key, value.revision, converted.at(n));
    if (!made) {
      entries[positions[n]] = Unreadable(recipe, value.key, value.revision, made.error());
      continue;
    }
    (*made)->stored_digest_ = stored[n].first;
    (*made)->stale_ = stored[n].second;
    entries[positions[n]] = std::move(*made);
  }
  co_return entries;
}

Digest CachedEntry::DigestOf(std::string_view stored) {
  KeyedHash hash;
  hash.Add(stored);
  return hash.Finish();
}

meta::Result<CachedEntryPtr> CachedEntry::FromConverted(const std::shared_ptr<const EntryRecipe>& recipe,
                                                        std::string key, Revision revision, std::string_view json,
                                                        std::string_view stored) {
  ASSIGN_OR_RETURN(std::shared_ptr<CachedEntry> entry, Make(recipe, std::move(key), revision, json));
  entry->stored_digest_ = DigestOf(stored);
  return CachedEntryPtr(std::move(entry));
}

meta::Result<CachedEntryPtr> CachedEntry::FromJson(const std::shared_ptr<const EntryRecipe>& recipe, std::string key,
                                                   Revision revision, std::string_view json) {
  ASSIGN_OR_RETURN(std::shared_ptr<CachedEntry> entry, Make(recipe, std::move(key), revision, json));
  return CachedEntryPtr(std::move(entry));
}

meta::Result<std::shared_ptr<CachedEntry>> CachedEntry::Make(const std::shared_ptr<const EntryRecipe>& recipe,
                                                             std::string key, Revision revision,
                                                             std::string_view json) {
  auto scanned = ScanObject(json, recipe->paths);
  if (!scanned)
    return meta::InternalError(fmt::format("{}{} does not hold the JSON of an object", recipe->prefix, key));
  const auto entry = std::make_shared<CachedEntry>(Private());
  const fmt::format_int number(revision);
  const std::string_view before = json.substr(0, scanned->version_begin), after = json.substr(scanned->version_end);
  entry->json_ = shared_memory::Share(
      {before, scanned->before, "\"", {number.data(), number.size()}, "\"", scanned->after, after});
  entry->version_offset_ = static_cast<std::uint32_t>(before.size() + scanned->before.size() + 1);
  // The resourceVersion is inside of the metadata.
  entry->metadata_offset_ = static_cast<std::uint32_t>(scanned->metadata_begin);
  entry->metadata_size_ =
      static_cast<std::uint32_t>(scanned->metadata_end - scanned->metadata_begin + entry->json_.size() - json.size());
  entry->typed_ = !recipe->config.type_prefix.empty() && json.starts_with(recipe->config.type_prefix);
  entry->recipe_ = recipe;
  entry->key_.text = std::move(key);
  entry->revision_ = revision;
  auto attributes = std::make_shared<Attributes>();
  attributes->labels = std::move(scanned->labels);
  attributes->labels.shrink_to_fit();
  attributes->fields = std::move(scanned->fields);
  const std::vector<std::string>& defaults = recipe->config.field_defaults;
  for (std::size_t i = 0; i < std::min(defaults.size(), attributes->fields.size()); ++i) {
    if (attributes->fields[i].empty()) attributes->fields[i] = defaults[i];
  }
  if (recipe->config.read_fields) {
    ASSIGN_OR_RETURN(meta::json::value document, codec::ParseJson(entry->json_.View(), meta::NewArena()));
    if (!document.is_object()) return meta::InternalError(fmt::format("{} is not an object", entry->key_.text));
    attributes->fields = recipe->config.read_fields(meta::Object(std::move(document.get_object())));
  }
  const bool none = attributes->labels.empty() && attributes->fields.empty();
  entry->attributes_ = none ? NoAttributes() : Shared(std::move(attributes));
  return entry;
}

// Objects of one workload have the same labels and usually arrive one after the other. The table remembers recent
// attributes by weak pointers, so it does not keep them alive.
std::shared_ptr<const CachedEntry::Attributes> CachedEntry::Shared(std::shared_ptr<const Attributes> made) {
  struct Table {
    std::mutex mutex;
    std::array<std::weak_ptr<const Attributes>, 256> slots;  // guarded by mutex
  };
  static auto* const table = new Table();  // never destroyed: entries may outlive static objects
  std::size_t hash = 0;
  const auto mix = [&hash](const std::string& text) { hash = hash * 31 + std::hash<std::string>()(text); };
  for (const auto& [name, value] : made->labels) {
    mix(name);
    mix(value);
  }
  for (const std::string& field : made->fields) mix(field);
  const std::lock_guard lock(table->mutex);
  std::weak_ptr<const Attributes>& slot = table->slots[hash % table->slots.size()];
  if (const std::shared_ptr<const Attributes> known = slot.lock(); known && *known == *made) return known;
  slot = made;
  return made;
}

const std::shared_ptr<const CachedEntry::Attributes>& CachedEntry::NoAttributes() {
  static const auto none = std::make_shared<const Attributes>();
  return none;
}

CachedEntryPtr CachedEntry::Unreadable(const std::shared_ptr<const EntryRecipe>& recipe, std::string key,
                                       Revision revision, meta::ApiError error) {
  const auto entry = std::make_shared<CachedEntry>(Private());
  entry->recipe_ = recipe;
  entry->key_.text = std::move(key);
  entry->revision_ = revision;
  entry->attributes_ = NoAttributes();
  entry->error_ = std::make_unique<const meta::ApiError>(std::move(error));
  return entry;
}

CachedEntryPtr CachedEntry::At(Revision revision) const {
  const auto entry = std::make_shared<CachedEntry>(Private());
  entry->recipe_ = recipe_;
  entry->key_ = key_;
  entry->revision_ = revision;
  entry->attributes_ = attributes_;
  entry->stored_digest_ = stored_digest_;
  entry->version_offset_ = version_offset_;
  entry->typed_ = typed_;
  if (error_) {
    entry->error_ = std::make_unique<const meta::ApiError>(*error_);
    return entry;
  }
  const std::string_view old = json_.View();
  const std::size_t end = old.find('"', version_offset_);
  const fmt::format_int number(revision);
  entry->json_ =
      shared_memory::Share({old.substr(0, version_offset_), {number.data(), number.size()}, old.substr(end)});
  entry->metadata_offset_ = metadata_offset_;
  entry->metadata_size_ = static_cast<std::uint32_t>(metadata_size_ + entry->json_.size() - old.size());
  return entry;
}

std::string_view CachedEntry::FieldValue(std::string_view field) const {
  const std::string_view key = key_.text;
  const std::size_t slash = recipe_->config.namespaced ? key.find('/') : std::string_view::npos;
  if (field == "metadata.name") return slash == std::string_view::npos ? key : key.substr(slash + 1);
  if (field == "metadata.namespace") return slash == std::string_view::npos ? std::string_view() : key.substr(0, slash);
  const auto& names = recipe_->config.selectable_fields;
  for (std::size_t i = 0; i < names.size() && i < attributes_->fields.size(); ++i) {
    if (names[i] == field) return attributes_->fields[i];
  }
  return {};
}

std::shared_ptr<Encodings> CachedEntry::OwnEncodings() const {
  const std::lock_guard lock(EncodingLock(this));
  if (!encodings_) encodings_ = Encodings::New();
  return encodings_;
}

SharedBytes CachedEntry::Encoded(std::string_view encoding,
                                 const std::function<std::string(std::string_view json)>& make) const {
  const std::shared_ptr<Encodings> encodings = OwnEncodings();
  if (SharedBytes kept = encodings->Find(encoding); kept.Owner()) return kept;
  // Encoding happens without a lock. If two threads create the same encoding, the first result is kept.
  return encodings->Keep(encoding, ShareIfKept(make(json_.View())));
}

SharedBytes CachedEntry::EncodedAt(WallTime now, std::string_view encoding,
                                   const std::function<Timed(std::string_view json)>& make) const {
  const std::shared_ptr<Encodings> encodings = OwnEncodings();
  if (SharedBytes kept = encodings->Find(encoding, now); kept.Owner()) return kept;
  Timed made = make(json_.View());
  return encodings->Keep(encoding, ShareIfKept(std::move(made.text)), {now, made.until});
}

}  // namespace apimesh::storage
