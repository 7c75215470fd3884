#include "lib/endpoint/encode.h"
#include "lib/endpoint/list_body.h"
#include "lib/endpoint/list_writer.h"
#include "lib/endpoint/options.h"
#include "lib/endpoint/verbs.h"

namespace apimesh::endpoint {
namespace {

constexpr std::size_t kCopiedBytes = 256 << 10;  // of a piece, which waits here while its reader is slow
constexpr std::size_t kWholeBytes = 256 << 10;  // up to here one message is cheaper than a stream
constexpr std::size_t kItemsAtOnce = 64;

/// A list on its way out.
struct Listing {
  std::unique_ptr<storage::ListCursor> cursor;
  std::unique_ptr<ListWriter> writer;
  ListMeta meta;
  /// Where something that stands before the items is known after them (a page's continue token, the size of a protobuf list),
  /// they are collected first: the cached objects, not their bytes.
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

Task<meta::Result<Listing>> Begin(RequestPtr request) {
  Listing listing;
  ASSIGN_OR_CO_RETURN(ListQuery query, ParseListQuery(request->query, request->Resource(), request->ObjectNamespace(),
                                                     request->Name()));
  ASSIGN_OR_CO_RETURN(listing.writer, NewListWriter(request));
  const std::int64_t limit = query.list.limit;
  ASSIGN_OR_CO_RETURN(listing.cursor, co_await request->served->store->List(request->ctx, std::move(query.list)));
  // Objects that are made anew for every request (health of components) have no revision.
  if (listing.cursor->At() > 0) listing.meta.resource_version = std::to_string(listing.cursor->At());
  const bool measures = listing.writer->MeasuresFirst();
  listing.collects = limit > 0 || measures;
  while (listing.collects) {
    std::vector<storage::EntryPtr> some = listing.cursor->Next(kItemsAtOnce);
    if (some.empty()) break;
    if (measures) {
      for (const storage::EntryPtr& entry : some) listing.writer->Measure(*entry);
    }
    listing.collected.insert(listing.collected.end(), some.begin(), some.end());
  }
  if (limit > 0) {
    listing.meta.continue_token = listing.cursor->ContinueToken();
    listing.meta.remaining = listing.cursor->Remaining();
  }
  co_return listing;
}

rpc::Headers HeadersOf(const ResourceRequest& request) {
  rpc::Headers headers;
  headers.emplace_back("content-type", std::string(codec::MediaTypeOf(request.output.format)));
  return headers;
}

}  // namespace

Task<Answer> List(RequestPtr request) {
  ASSIGN_OR_CO_RETURN(Listing listing, co_await Begin(request));
  Pieces body;
  body.Text(listing.writer->Head(listing.meta));
  while (true) {
    const std::vector<storage::EntryPtr> some = listing.Next();
    if (some.empty()) break;
    for (const storage::EntryPtr& entry : some) listing.writer->AppendItem(body, entry);
    if (body.size() > kWholeBytes) {
      rpc::Response large;
      large.use_stream = true;
      co_return large;
    }
  }
  body.Text(listing.writer->Tail(listing.meta));
  rpc::Response response;
  response.headers = HeadersOf(*request);
  response.body = body.Take();
  co_return response;
}

Task<meta::Result<>> StreamList(RequestPtr request, rpc::ResponseStream& stream) {
  ASSIGN_OR_CO_RETURN(Listing listing, co_await Begin(request));
  const std::size_t piece_bytes = stream.PieceBytes();
  rpc::Response head;
  head.headers = HeadersOf(*request);
  AddWarnings(request->ctx, head.headers);
  bool head_sent = false;
  ListBody body(*request, *listing.writer);
  Pieces& piece = body.Ready();
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
    }
  }
  body.Tail(listing.writer->Tail(listing.meta));
  std::vector<SharedBytes> out = piece.Take();
  if (head_sent) {
    co_await stream.Write(std::move(out));
  } else {
    body.AddHeaders(head.headers);
    head.body = std::move(out);
    co_await stream.WriteWhole(std::move(head));
  }
  co_return meta::Result<>();
}

}  // namespace apimesh::endpoint
