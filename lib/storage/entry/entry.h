#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/hash/keyed_hash.h"
#include "lib/encryption/encryption.h"
#include "lib/storage/entry/encodings.h"
#include "lib/storage/entry/json_scan.h"
#include "lib/storage/store.h"

namespace apimesh::storage {

/// Everything that is needed to create the entries of one resource.
struct EntryRecipe {
  explicit EntryRecipe(ResourceConfig given, std::string etcd_prefix = {},
                       std::shared_ptr<encryption::Encryption> encrypted_by = nullptr)
      : config(std::move(given)),
        paths(config.read_fields ? FieldPaths() : SplitPaths(config.selectable_fields)),
        prefix(std::move(etcd_prefix)),
        encryption(std::move(encrypted_by)) {}
  const ResourceConfig config;
  const FieldPaths paths;
  const std::string prefix;                                  // the key prefix in etcd, with a trailing slash
  const std::shared_ptr<encryption::Encryption> encryption;  // nullptr: no encryption

  encryption::TransformerPtr Transformer() const {
    return encryption ? encryption->For(config.StoredAs().group, config.StoredAs().resource) : encryption::Identity();
  }
  /// Returns whether decrypting this value needs a key that has to be fetched first.
  bool NeedsKeyFetch(std::string_view stored) const { return encryption && Transformer()->NeedsKeyFetch(stored); }
  /// Fetches that key. Returns an error (503) only if a later attempt may succeed. If the value can never be read,
  /// FromStored() reports that.
  static Task<meta::Result<>> FetchKey(std::shared_ptr<const EntryRecipe> recipe, std::string stored);
};

/// A value in etcd.
struct StoredValue {
  std::string key;  // without the prefix of the resource
  Revision revision = 0;
  std::string value;
};

class CachedEntry;
using CachedEntryPtr = std::shared_ptr<const CachedEntry>;

class CachedEntry final : public Entry {
  struct Private {};

 public:
  explicit CachedEntry(Private) {}  // Use the factory functions below.

  /// Creates an entry from a value in etcd. The key that decrypts it must have been fetched. An unreadable value is an
  /// error that names the key.
  static meta::Result<CachedEntryPtr> FromStored(const std::shared_ptr<const EntryRecipe>& recipe, std::string key,
                                                 Revision revision, std::string_view stored);
  /// The same for a resource with a SuspendingConversion: converts all values together. A value that cannot be
  /// decrypted or parsed becomes an Unreadable() entry. An error means that the conversion has failed.
  static Task<meta::Result<std::vector<CachedEntryPtr>>> Convert(std::shared_ptr<const EntryRecipe> recipe,
                                                                 std::vector<StoredValue> values);
  /// Creates an entry from JSON in the served version, with or without a resourceVersion.
  static meta::Result<CachedEntryPtr> FromJson(const std::shared_ptr<const EntryRecipe>& recipe, std::string key,
                                               Revision revision, std::string_view json);
  /// The same for an object whose stored value is known, too. Used with a SuspendingConversion.
  static meta::Result<CachedEntryPtr> FromConverted(const std::shared_ptr<const EntryRecipe>& recipe, std::string key,
                                                    Revision revision, std::string_view json, std::string_view stored);
  /// Creates a placeholder for an object that cannot be read. It can be deleted; reading it returns `error`.
  static CachedEntryPtr Unreadable(const std::shared_ptr<const EntryRecipe>& recipe, std::string key, Revision revision,
                                   meta::ApiError error);
  /// Returns the same object with another resourceVersion.
  CachedEntryPtr At(Revision revision) const;

  const Key& GetKey() const override { return key_; }
  Revision ModRevision() const override { return revision_; }
  SharedBytes Json() const override { return json_; }
  std::string_view JsonText() const override { return json_.View(); }
  std::string_view TypePrefix() const override {
    return typed_ ? std::string_view(recipe_->config.type_prefix) : std::string_view();
  }
  std::string_view MetadataText() const override { return json_.View().substr(metadata_offset_, metadata_size_); }
  const meta::Labels& GetLabels() const override { return attributes_->labels; }
  std::string_view FieldValue(std::string_view field) const override;
  SharedBytes Encoded(std::string_view encoding,
                      const std::function<std::string(std::string_view json)>& make) const override;
  SharedBytes EncodedAt(WallTime now, std::string_view encoding,
                        const std::function<Timed(std::string_view json)>& make) const override;

  const std::string& KeyText() const { return key_.text; }
  const meta::ApiError* Error() const { return error_.get(); }
  /// True if the stored value has to be rewritten because it was encrypted with an old key or provider, or is not in
  /// the storage version.
  bool Stale() const { return stale_; }
  /// Returns whether this text is the stored value. Known only for resources with a SuspendingConversion, whose served
  /// JSON does not show whether the stored value would change.
  bool IsStoredAs(std::string_view stored) const { return stored_digest_ == DigestOf(stored); }
  std::size_t JsonBytes() const { return json_.size(); }
  std::size_t Bytes() const { return JsonBytes() + sizeof(CachedEntry); }

 private:
  struct Attributes {
    meta::Labels labels;
    std::vector<std::string> fields;
    bool operator==(const Attributes&) const = default;
  };
  /// Returns equal attributes that another object already has, or `made` itself.
  static std::shared_ptr<const Attributes> Shared(std::shared_ptr<const Attributes> made);
  static const std::shared_ptr<const Attributes>& NoAttributes();
  static Digest DigestOf(std::string_view stored);
  std::shared_ptr<Encodings> OwnEncodings() const;
  static meta::Result<std::shared_ptr<CachedEntry>> Make(const std::shared_ptr<const EntryRecipe>& recipe,
                                                         std::string key, Revision revision, std::string_view json);

  std::shared_ptr<const EntryRecipe> recipe_;
  Key key_;
  Revision revision_ = 0;
  Digest stored_digest_;  // instead of the stored value, which would double the memory of an entry
  SharedBytes json_;
  std::uint32_t version_offset_ = 0;  // where the number of the resourceVersion begins in json_
  std::uint32_t metadata_offset_ = 0;
  std::uint32_t metadata_size_ = 0;
  bool stale_ = false;
  bool typed_ = false;  // the JSON begins with type_prefix; computed once, so that a list need not compare the text
  std::shared_ptr<const Attributes> attributes_;
  std::unique_ptr<const meta::ApiError> error_;
  mutable std::shared_ptr<Encodings> encodings_;  // nullptr: none yet; guarded by a lock that is chosen by address
};

}  // namespace apimesh::storage
