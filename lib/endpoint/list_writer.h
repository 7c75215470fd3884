#pragma once

#include <memory>
#include <optional>
#include <string>

#include "lib/base/pieces.h"
#include "lib/endpoint/request.h"
#include "lib/storage/store.h"

namespace apimesh::endpoint {

/// What stands in a list besides its items.
struct ListMeta {
  std::string resource_version;
  std::string continue_token;
  std::optional<std::int64_t> remaining;
};

/// Writes a list piece by piece: head, items, tail. One for a request.
class ListWriter {
 public:
  virtual ~ListWriter() = default;
  /// The head tells how much comes after it: every item is shown to Measure() first, then the head is written.
  virtual bool MeasuresFirst() const { return false; }
  virtual void Measure(const storage::Entry&) {}
  virtual std::string Head(const ListMeta& meta) = 0;
  virtual void AppendItem(Pieces& out, const storage::EntryPtr& entry) = 0;
  virtual std::string Tail(const ListMeta& meta) = 0;
  /// What AppendItem() writes of an item, as the name of a form, where that is the same in every list; "" where it is not.
  virtual std::string ItemForm() const { return {}; }
  /// The next item that is written comes after others that this writer has not seen, or is the first after all.
  virtual void Continue(bool /*after_others*/) {}
};

/// The writer for what was negotiated; 400 and 406 for what a list can't be.
meta::Result<std::unique_ptr<ListWriter>> NewListWriter(RequestPtr request);

}  // namespace apimesh::endpoint
