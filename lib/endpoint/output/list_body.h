#pragma once

#include <string>
#include <vector>

#include "lib/base/async/task.h"
#include "lib/base/pieces.h"
#include "lib/endpoint/output/list_writer.h"
#include "lib/endpoint/request.h"
#include "lib/gzip/blocks.h"
#include "lib/storage/store.h"

namespace apimesh::endpoint {

/// Builds the body of a list in pieces. If the client accepts gzip and the list is long enough, the body is
/// gzip-encoded and consists of cached deflate blocks. Each block holds a *run* of consecutive items and is cached with
/// the first item of the run, so that every list that contains the same run reuses it. The object holds only the pieces
/// that have not been taken yet.
class ListBody {
 public:
  ListBody(const ResourceRequest& request, ListWriter& writer);

  void Head(std::string text);
  void Item(const storage::EntryPtr& entry);
  void Tail(std::string_view text);

  /// Returns the pieces that are ready. The caller must not take any before their size reaches gzip::kWorthCompressing
  /// or Tail() has been called, because until then it is undecided whether the body is compressed.
  Pieces& Ready() { return pieces_; }
  void AddHeaders(mesh::Headers& headers) const;

  /// Returns whether enough blocks have been compressed since the last Rest() that the caller should call Rest() again.
  bool WorkedLong() const { return worked_ >= kLongWork; }
  Task<> Rest();

 private:
  static constexpr std::size_t kLongWork = 512 << 10;
  enum class Encoding { kPlain, kUndecided, kCompressed };

  void Compress();
  void AddToRun(const storage::EntryPtr& entry);
  void EndRun();
  std::string MakeRun(bool first);
  void AddStored(std::string_view text);

  ListWriter& writer_;
  const std::string name_;  // the name under which runs are cached in an entry
  Encoding encoding_;
  Pieces pieces_;
  std::string head_;  // head_ and begun_ are used while the encoding is undecided
  std::vector<storage::EntryPtr> begun_;
  gzip::Body gzip_;
  std::vector<storage::EntryPtr> run_;
  std::size_t run_bytes_ = 0;  // the size of the items' JSON, whatever encoding is sent
  std::uint64_t run_id_ = 0;   // distinguishes the run from other runs that begin with the same item
  bool first_run_ = true;
  std::size_t worked_ = 0;
};

}  // namespace apimesh::endpoint
