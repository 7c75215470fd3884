#pragma once

#include <map>
#include <string>
#include <vector>

#include "lib/storage/forms.h"
#include "lib/storage/store.h"

namespace apimesh::testing {

/// An object of a FakeStore: its JSON with the resourceVersion in place, right after uid as the reference writes it.
class FakeEntry final : public storage::Entry {
 public:
  FakeEntry(storage::Key key, meta::Object object, storage::Revision revision, const storage::ResourceConfig& config);

  const storage::Key& GetKey() const override { return key_; }
  storage::Revision ModRevision() const override { return revision_; }
  SharedBytes Json() const override { return json_; }
  std::string_view JsonText() const override { return json_.View(); }
  const meta::Labels& GetLabels() const override { return labels_; }
  std::string_view FieldValue(std::string_view field) const override;
  SharedBytes Encoded(std::string_view form, const std::function<std::string(std::string_view json)>& make) const override;
  SharedBytes EncodedAt(WallTime now, std::string_view form, const std::function<Timed(std::string_view json)>& make) const override;

  const meta::Object& Parsed() const { return object_; }

 private:
  storage::Key key_;
  meta::Object object_;
  storage::Revision revision_;
  SharedBytes json_;
  meta::Labels labels_;
  std::map<std::string, std::string, std::less<>> fields_;
  const std::shared_ptr<storage::Forms> forms_ = storage::Forms::New();
};
using FakeEntryPtr = std::shared_ptr<const FakeEntry>;

/// `object` with metadata.resourceVersion set, in the reference's place.
meta::Object WithRevision(const meta::Object& object, storage::Revision revision);

}  // namespace apimesh::testing
