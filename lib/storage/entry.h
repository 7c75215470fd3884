#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "lib/encryption/encryption.h"
#include "lib/storage/forms.h"
#include "lib/storage/json_scan.h"
#include "lib/storage/store.h"

namespace apimesh::storage {

/// What entries of one resource are made with.
struct EntryRecipe {
  explicit EntryRecipe(ResourceConfig given, std::string etcd_prefix = {},
                       std::shared_ptr<encryption::Encryption> encrypted_by = nullptr)
      : config(std::move(given)), paths(config.read_fields ? FieldPaths() : SplitPaths(config.selectable_fields)),
        prefix(std::move(etcd_prefix)), encryption(std::move(encrypted_by)) {}
  const ResourceConfig config;
  const FieldPaths paths;
  const std::string prefix;  // in etcd, with a slash at its end
  const std::shared_ptr<encryption::Encryption> encryption;  // nullptr: none

  encryption::TransformerPtr Transformer() const {
    return encryption ? encryption->For(config.StoredAs().group, config.StoredAs().resource) : encryption::Identity();
  }
  /// Whether reading this value takes a key that is to be fetched first.
  bool Locked(std::string_view stored) const { return encryption && Transformer()->Locked(stored); }
  /// Fetches that key. An error (503) only if the same may work later; what can't ever be read, FromStored() refuses.
  static Task<meta::Result<>> Unlock(std::shared_ptr<const EntryRecipe> recipe, std::string stored);
};

class CachedEntry;
using CachedEntryPtr = std::shared_ptr<const CachedEntry>;

class CachedEntry final : public Entry {
  struct Private {};

 public:
  explicit CachedEntry(Private) {}  // see the functions below

  /// From what etcd holds, unlocked. An error if that can't be read; it names the key.
  static meta::Result<CachedEntryPtr> FromStored(const std::shared_ptr<const EntryRecipe>& recipe, std::string key,
                                                 Revision revision, std::string_view stored);
  /// From JSON in the served version, with or without a resourceVersion.
  static meta::Result<CachedEntryPtr> FromJson(const std::shared_ptr<const EntryRecipe>& recipe, std::string key,
                                               Revision revision, std::string_view json);
  /// The place of an object that can't be read: it can be deleted, and reading it gives the error.
  static CachedEntryPtr Unreadable(const std::shared_ptr<const EntryRecipe>& recipe, std::string key, Revision revision,
                                   meta::ApiError error);
  /// The same object with another resourceVersion.
  CachedEntryPtr At(Revision revision) const;

  const Key& GetKey() const override { return key_; }
  Revision ModRevision() const override { return revision_; }
  SharedBytes Json() const override { return json_; }
  std::string_view JsonText() const override { return json_.View(); }
  std::string_view TypePrefix() const override { return typed_ ? std::string_view(recipe_->config.type_prefix) : std::string_view(); }
  std::string_view MetadataText() const override { return json_.View().substr(metadata_offset_, metadata_size_); }
  const meta::Labels& GetLabels() const override { return attributes_->labels; }
  std::string_view FieldValue(std::string_view field) const override;
  SharedBytes Encoded(std::string_view form,
                      const std::function<std::string(std::string_view json)>& make) const override;
  SharedBytes EncodedAt(WallTime now, std::string_view form,
                        const std::function<Timed(std::string_view json)>& make) const override;

  const std::string& KeyText() const { return key_.text; }
  const meta::ApiError* Error() const { return error_.get(); }
  /// Read from etcd in a form that a write would replace: another key or provider of encryption.
  bool Stale() const { return stale_; }
  std::size_t JsonBytes() const { return json_.size(); }
  std::size_t Bytes() const { return JsonBytes() + sizeof(CachedEntry); }

 private:
  struct Attributes {
    meta::Labels labels;
    std::vector<std::string> fields;
    bool operator==(const Attributes&) const = default;
  };
  /// The same, or equal ones that another object has.
  static std::shared_ptr<const Attributes> Shared(std::shared_ptr<const Attributes> made);
  static const std::shared_ptr<const Attributes>& NoAttributes();
  std::shared_ptr<Forms> OwnForms() const;
  static meta::Result<std::shared_ptr<CachedEntry>> Make(const std::shared_ptr<const EntryRecipe>& recipe, std::string key,
                                                         Revision revision, std::string_view json);

  std::shared_ptr<const EntryRecipe> recipe_;
  Key key_;
  Revision revision_ = 0;
  SharedBytes json_;
  std::uint32_t version_offset_ = 0;  // of the number in json_
  std::uint32_t metadata_offset_ = 0;
  std::uint32_t metadata_size_ = 0;
  bool stale_ = false;
  bool typed_ = false;  // begins with type_prefix: known here, so that a list need not look at the text itself
  std::shared_ptr<const Attributes> attributes_;
  std::unique_ptr<const meta::ApiError> error_;
  mutable std::shared_ptr<Forms> forms_;  // nullptr: none yet; guarded by a lock picked by address
};

}  // namespace apimesh::storage
