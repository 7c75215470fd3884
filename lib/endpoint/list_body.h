#pragma once

#include <string>
#include <vector>

#include "lib/base/pieces.h"
#include "lib/base/task.h"
#include "lib/endpoint/list_writer.h"
#include "lib/endpoint/request.h"
#include "lib/gzip/blocks.h"
#include "lib/storage/store.h"

namespace apimesh::endpoint {

/// The body of a list as it is written, in pieces. Where the client takes gzip and the list is long enough, it is a gzip body
/// made of kept blocks: each holds a *run* of some neighbouring items and is kept as a form of the first of them, for every list that
/// has the same items there. Holds what was not taken yet, nothing else.
class ListBody {
 public:
  ListBody(const ResourceRequest& request, ListWriter& writer);

  void Head(std::string text);
  void Item(const storage::EntryPtr& entry);
  void Tail(std::string_view text);

  /// What is ready. Nothing of it may be taken before it is gzip::kWorthCompressing or Tail() was told: whether the list is
  /// compressed is known only then.
  Pieces& Ready() { return pieces_; }
  void AddHeaders(rpc::Headers& headers) const;

  /// Blocks had to be made for some time: others should have their turn.
  bool WorkedLong() const { return worked_ >= kLongWork; }
  Task<> Rest();

 private:
  static constexpr std::size_t kLongWork = 512 << 10;
  enum class Form { kPlain, kUndecided, kPacked };

  void Pack();
  void AddToRun(const storage::EntryPtr& entry);
  void EndRun();
  std::string MakeRun(bool first);
  void AddStored(std::string_view text);

  ListWriter& writer_;
  const std::string name_;  // of the form that a run is kept as
  Form form_;
  Pieces pieces_;
  std::string head_;                        // while undecided, as the items
  std::vector<storage::EntryPtr> begun_;
  gzip::Body gzip_;
  std::vector<storage::EntryPtr> run_;
  std::size_t run_bytes_ = 0;    // of the items' JSON, whatever form they go out in
  std::uint64_t run_id_ = 0;     // tells a run from every other one that begins with the same item
  bool first_run_ = true;
  std::size_t worked_ = 0;
};

}  // namespace apimesh::endpoint
