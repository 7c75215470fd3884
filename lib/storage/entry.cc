#include "lib/storage/entry.h"

#include <fmt/format.h>

#include <array>
#include <mutex>

#include "lib/codec/codec.h"
#include "lib/segment/segment.h"

namespace apimesh::storage {
namespace {

constexpr std::string_view kProtobufMagic("k8s\0", 4);
constexpr std::string_view kEncryptedMark("k8s:enc:");

/// Few entries have other forms made at the same moment, so they share some locks instead of holding one each.
std::mutex& FormLock(const void* entry) {
  static std::array<std::mutex, 64> locks;
  return locks[(reinterpret_cast<std::uintptr_t>(entry) >> 6) % locks.size()];
}

/// What will not be kept is not put where it could be lent: a slow reader would hold it, and all that comes after it.
SharedBytes Placed(std::string made) {
  return Forms::HasRoom(made.size()) ? segment::Share({made}) : SharedBytes(std::move(made));
}

}  // namespace

Task<meta::Result<>> EntryRecipe::Unlock(std::shared_ptr<const EntryRecipe> recipe, std::string stored) {
  const encryption::Result<> unlocked = co_await recipe->Transformer()->Unlock(std::move(stored));
  if (!unlocked && unlocked.error().temporary) co_return meta::ServiceUnavailable(unlocked.error().message, 1);
  co_return meta::Result<>();
}

meta::Result<CachedEntryPtr> CachedEntry::FromStored(const std::shared_ptr<const EntryRecipe>& recipe, std::string key,
                                                     Revision revision, std::string_view stored) {
  const ResourceConfig& config = recipe->config;
  encryption::Opened opened;
  if (recipe->encryption || stored.starts_with(kEncryptedMark)) {
    auto plain = recipe->Transformer()->Open(stored, recipe->prefix + key);
    if (!plain) {
      return meta::InternalError(fmt::format("unable to transform key \"{}{}\": {}", recipe->prefix, key, plain.error().message));
    }
    opened = std::move(*plain);
    stored = opened.plain;
  }
  const bool other_version = [&] {
    if (stored.starts_with(kProtobufMagic)) return true;
    if (config.api_version.empty() || !config.to_json) return false;
    const auto scanned = ScanObject(stored, {});
    return scanned && scanned->api_version != config.api_version;
  }();
  std::string json;
  if (other_version) {
    if (!config.to_json) {
      return meta::InternalError(fmt::format("{}{} is stored as protobuf, which is not read here", recipe->prefix, key));
    }
    auto converted = config.to_json(stored);
    if (!converted) {
      return meta::InternalError(fmt::format("unable to decode key \"{}{}\": {}", recipe->prefix, key, converted.error().Message()));
    }
    json = std::move(*converted);
    stored = json;
  }
  ASSIGN_OR_RETURN(std::shared_ptr<CachedEntry> entry, Make(recipe, std::move(key), revision, stored));
  entry->stale_ = opened.stale;
  return CachedEntryPtr(std::move(entry));
}

meta::Result<CachedEntryPtr> CachedEntry::FromJson(const std::shared_ptr<const EntryRecipe>& recipe, std::string key,
                                                   Revision revision, std::string_view json) {
  ASSIGN_OR_RETURN(std::shared_ptr<CachedEntry> entry, Make(recipe, std::move(key), revision, json));
  return CachedEntryPtr(std::move(entry));
}

meta::Result<std::shared_ptr<CachedEntry>> CachedEntry::Make(const std::shared_ptr<const EntryRecipe>& recipe, std::string key,
                                                             Revision revision, std::string_view json) {
  auto scanned = ScanObject(json, recipe->paths);
  if (!scanned) return meta::InternalError(fmt::format("{}{} does not hold the JSON of an object", recipe->prefix, key));
  const auto entry = std::make_shared<CachedEntry>(Private());
  const fmt::format_int number(revision);
  const std::string_view before = json.substr(0, scanned->version_begin), after = json.substr(scanned->version_end);
  entry->json_ = segment::Share({before, scanned->before, "\"", {number.data(), number.size()}, "\"", scanned->after, after});
  entry->version_offset_ = static_cast<std::uint32_t>(before.size() + scanned->before.size() + 1);
  entry->metadata_offset_ = static_cast<std::uint32_t>(scanned->metadata_begin);  // the version stands inside of it
  entry->metadata_size_ = static_cast<std::uint32_t>(scanned->metadata_end - scanned->metadata_begin + entry->json_.size() - json.size());
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
    if (!document.is_object()) return meta::InternalError(fmt::format("{} is no object", entry->key_.text));
    attributes->fields = recipe->config.read_fields(meta::Object(std::move(document.get_object())));
  }
  const bool none = attributes->labels.empty() && attributes->fields.empty();
  entry->attributes_ = none ? NoAttributes() : Shared(std::move(attributes));
  return entry;
}

// Objects of one workload have the same labels, and come one after the other. So a few that came last are remembered, and not kept by that.
std::shared_ptr<const CachedEntry::Attributes> CachedEntry::Shared(std::shared_ptr<const Attributes> made) {
  struct Table {
    std::mutex mutex;
    std::array<std::weak_ptr<const Attributes>, 256> slots;  // guarded by mutex
  };
  static auto* const table = new Table();  // entries may outlive everything static
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
  entry->version_offset_ = version_offset_;
  entry->typed_ = typed_;
  if (error_) {
    entry->error_ = std::make_unique<const meta::ApiError>(*error_);
    return entry;
  }
  const std::string_view old = json_.View();
  const std::size_t end = old.find('"', version_offset_);
  const fmt::format_int number(revision);
  entry->json_ = segment::Share({old.substr(0, version_offset_), {number.data(), number.size()}, old.substr(end)});
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

std::shared_ptr<Forms> CachedEntry::OwnForms() const {
  const std::lock_guard lock(FormLock(this));
  if (!forms_) forms_ = Forms::New();
  return forms_;
}

SharedBytes CachedEntry::Encoded(std::string_view form,
                                 const std::function<std::string(std::string_view json)>& make) const {
  const std::shared_ptr<Forms> forms = OwnForms();
  if (SharedBytes kept = forms->Find(form); kept.Owner()) return kept;
  // Made outside of any lock: two may make the same at once, the first one stays.
  return forms->Keep(form, Placed(make(json_.View())));
}

SharedBytes CachedEntry::EncodedAt(WallTime now, std::string_view form,
                                   const std::function<Timed(std::string_view json)>& make) const {
  const std::shared_ptr<Forms> forms = OwnForms();
  if (SharedBytes kept = forms->Find(form, now); kept.Owner()) return kept;
  Timed made = make(json_.View());
  return forms->Keep(form, Placed(std::move(made.text)), {now, made.until});
}

}  // namespace apimesh::storage
