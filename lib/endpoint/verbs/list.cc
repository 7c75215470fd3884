#include <algorithm>

#include "lib/base/async/turns.h"
#include "lib/endpoint/input/options.h"
#include "lib/endpoint/output/encode.h"
#include "lib/endpoint/output/list_body.h"
#include "lib/endpoint/output/list_writer.h"
#include "lib/endpoint/spans.h"
#include "lib/endpoint/verbs/verbs.h"
#include "lib/tracing/step.h"

namespace apimesh::endpoint {
namespace {

constexpr std::size_t kCopiedBytes = 256 << 10;  // copied bytes per piece; they stay in memory while the client is slow
constexpr std::size_t kItemsAtOnce = 64;

/// A list that is being sent.
struct Listing {
  std::unique_ptr<storage::ListCursor> cursor;
  std::unique_ptr<ListWriter> writer;
  ListMeta meta;
  /// Some lists contain data before the items that is known only after them: the continue token of a page, the size of
  /// a protobuf list. For those, the cached objects (not their bytes) are collected first.
  std::vector<storage::EntryPtr> collected;
  bool collects = false;
  std::size_t next = 0;

  std::vector<storage::EntryPtr> Next() {
    if (!collects) return cursor->Next(kItemsAtOnce);
    std::vector<storage::EntryPtr> some;
    while (next < collected.size() && some.size() < kItemsAtOnce) some.push_back(collected[next++]);
    return some;
  }
};

/// Sorts the items of a list, or those of one page. Items with the same number stay in the order of their names.
void Sort(std::vector<storage::EntryPtr>& entries, const ListWriter& writer) {
  std::vector<std::pair<std::int64_t, storage::EntryPtr>> ordered;
  for (storage::EntryPtr& entry : entries) ordered.emplace_back(writer.ItemOrder(*entry), std::move(entry));
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = std::move(ordered[i].second);
}

Task<meta::Result<Listing>> Begin(RequestPtr request) {
  Listing listing;
  ASSIGN_OR_CO_RETURN(ListQuery query, ParseListQuery(request->query, request->Resource(), request->ObjectNamespace(),
                                                      request->Name(), request->env->watch_list));
  ASSIGN_OR_CO_RETURN(listing.writer, NewListWriter(request));
  const std::int64_t limit = query.list.limit;
  ASSIGN_OR_CO_RETURN(listing.cursor, co_await request->served->store->List(request->ctx, std::move(query.list)));
  // Objects that are computed for every request (componentstatuses) have no revision.
  if (listing.cursor->At() > 0) listing.meta.resource_version = std::to_string(listing.cursor->At());
  const bool measures = listing.writer->MeasuresFirst();
  listing.collects = limit > 0 || measures || listing.writer->Sorts();
  Turns turns(request->env->sources.clock);  // measuring encodes the items
  while (listing.collects) {
    std::vector<storage::EntryPtr> some = listing.cursor->Next(kItemsAtOnce);
    if (some.empty()) break;
    if (measures) {
      for (const storage::EntryPtr& entry : some) {
        listing.writer->Measure(*entry);
        if (turns.Over()) co_await turns.Next();
      }
    }
    listing.collected.insert(listing.collected.end(), some.begin(), some.end());
  }
  if (listing.writer->Sorts()) Sort(listing.collected, *listing.writer);
  if (limit > 0) {
    listing.meta.continue_token = listing.cursor->ContinueToken();
    listing.meta.remaining = listing.cursor->Remaining();
  }
  co_return listing;
}

mesh::Headers HeadersOf(const ResourceRequest& request) {
  mesh::Headers headers;
  headers.emplace_back("content-type", std::string(codec::MediaTypeOf(request.output.format)));
  return headers;
}

}  // namespace

Task<meta::Result<>> StreamList(RequestPtr request, mesh::ResponseStream& stream) {
  ASSIGN_OR_CO_RETURN(Listing listing, co_await Begin(request));
  const tracing::Step step(SerializeSpan(*request));
  const std::size_t piece_bytes = stream.PieceBytes();
  mesh::Response head;
  head.headers = HeadersOf(*request);
  AddAdmissionHeaders(request->ctx, head.headers);
  bool head_sent = false;
  ListBody body(*request, *listing.writer);
  Pieces& piece = body.Ready();
  Turns turns(request->env->sources.clock);  // a write need not wait
  body.Head(listing.writer->Head(listing.meta));
  while (true) {
    const std::vector<storage::EntryPtr> some = listing.Next();
    if (some.empty()) break;
    for (const storage::EntryPtr& entry : some) {
      body.Item(entry);
      if (body.WorkedLong()) co_await body.Rest();
      if (piece.size() < piece_bytes && piece.Copied() < kCopiedBytes) continue;
      if (!head_sent) {
        head_sent = true;
        body.AddHeaders(head.headers);
        const bool wanted = co_await stream.WriteHead(head.code, std::move(head.headers));
        if (!wanted) co_return meta::Result<>();
      }
      std::vector<SharedBytes> out = piece.Take();
      if (!co_await stream.Write(std::move(out))) co_return meta::Result<>();
      if (turns.Over()) co_await turns.Next();
    }
  }
  body.Tail(listing.writer->Tail(listing.meta));
  std::vector<SharedBytes> out = piece.Take();
  if (head_sent) {
    co_await stream.Write(std::move(out));
  } else {
    body.AddHeaders(head.headers);
    head.body = std::move(out);
    co_await stream.WriteComplete(std::move(head));
  }
  co_return meta::Result<>();
}

}  // namespace apimesh::endpoint
