#pragma once

#include <map>
#include <string>
#include <vector>

#include "lib/storage/entry/encodings.h"
#include "lib/storage/store.h"

namespace apimesh::testing {

/// An object of a FakeStore. Its JSON contains the resourceVersion directly after uid, as kube-apiserver encodes it.
class FakeEntry final : public storage::Entry {
 public:
  FakeEntry(storage::Key key, meta::Object object, storage::Revision revision, const storage::ResourceConfig& config);

  const storage::Key& GetKey() const override { return key_; }
  storage::Revision ModRevision() const override { return revision_; }
  SharedBytes Json() const override { return json_; }
  std::string_view JsonText() const override { return json_.View(); }
  const meta::Labels& GetLabels() const override { return labels_; }
  std::string_view FieldValue(std::string_view field) const override;
  SharedBytes Encoded(std::string_view encoding,
                      const std::function<std::string(std::string_view json)>& make) const override;
  SharedBytes EncodedAt(WallTime now, std::string_view encoding,
                        const std::function<Timed(std::string_view json)>& make) const override;

  const meta::Object& Parsed() const { return object_; }

 private:
  storage::Key key_;
  meta::Object object_;
  storage::Revision revision_;
  SharedBytes json_;
  meta::Labels labels_;
  std::map<std::string, std::string, std::less<>> fields_;
  const std::shared_ptr<storage::Encodings> encodings_ = storage::Encodings::New();
};
using FakeEntryPtr = std::shared_ptr<const FakeEntry>;

/// Returns `object` with metadata.resourceVersion set, in the position where kube-apiserver encodes it.
meta::Object WithRevision(const meta::Object& object, storage::Revision revision);

}  // namespace apimesh::testing
