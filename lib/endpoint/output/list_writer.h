#pragma once

#include <memory>
#include <optional>
#include <string>

#include "lib/base/pieces.h"
#include "lib/endpoint/request.h"
#include "lib/storage/store.h"

namespace apimesh::endpoint {

/// The metadata of a list.
struct ListMeta {
  std::string resource_version;
  std::string continue_token;
  std::optional<std::int64_t> remaining;
};

/// Writes a list piece by piece: head, items, tail. Use one writer per request.
class ListWriter {
 public:
  virtual ~ListWriter() = default;
  /// Returns whether the head contains the size of the items. If so, the caller passes every item to Measure() before
  /// it calls Head().
  virtual bool MeasuresFirst() const { return false; }
  virtual void Measure(const storage::Entry&) {}
  /// Returns whether the items are sorted before they are written, by ItemOrder().
  virtual bool Sorts() const { return false; }
  virtual std::int64_t ItemOrder(const storage::Entry&) const { return 0; }
  virtual std::string Head(const ListMeta& meta) = 0;
  virtual void AppendItem(Pieces& out, const storage::EntryPtr& entry) = 0;
  virtual std::string Tail(const ListMeta& meta) = 0;
  /// Returns the name of the encoding that AppendItem() writes, or "" if the bytes of an item differ from list to list.
  virtual std::string ItemEncoding() const { return {}; }
  /// Sets whether the next item follows other items that this writer has not seen (true) or is the first item of the
  /// list (false).
  virtual void Continue(bool /*after_others*/) {}
};

/// Returns the writer for the negotiated output. Returns 400 or 406 if a list cannot be encoded that way.
meta::Result<std::unique_ptr<ListWriter>> NewListWriter(RequestPtr request);

}  // namespace apimesh::endpoint
