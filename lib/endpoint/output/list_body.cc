#include "lib/endpoint/output/list_body.h"

#include <cstring>
#include <random>

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "lib/gzip/accepts.h"

namespace apimesh::endpoint {
namespace {

// A single compressed object takes a fifth of its JSON, eight similar objects together take a twentieth. A longer run
// compresses better, but more bytes have to be compressed again when one of its objects changes.
constexpr std::size_t kRunBytes = 32 << 10;
constexpr std::size_t kLeastRunBytes = 8 << 10;
constexpr std::size_t kMostRunBytes = 64 << 10;

std::string KeptEncoding(const ResourceRequest& request, const ListWriter& writer) {
  const bool compresses = request.http.method == "GET" && gzip::Accepts(request.http.Header("accept-encoding"));
  const std::string encoding = compresses ? writer.ItemEncoding() : std::string();
  return encoding.empty() ? encoding : "gzip." + encoding;
}

std::uint64_t Mixed(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xd6e8feb86659fd93u);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// Returns a hash that differs for any two objects and for any two states of one object. It is seeded with a random
/// value so that clients cannot predict where runs end.
std::uint64_t IdentityOf(const storage::Entry& entry) {
  static const std::uint64_t secret = [] {
    std::random_device random;
    return std::uint64_t{random()} << 32 | random();
  }();
  return Mixed(Mixed(secret, entry.ModRevision()), std::hash<std::string_view>()(entry.GetKey().text));
}

/// A cached run consists of its gzip::Sum as bytes in memory, followed by its deflate blocks.
constexpr std::size_t kSumBytes = sizeof(gzip::Sum);
static_assert(kSumBytes == 16, "no holes");

}  // namespace

ListBody::ListBody(const ResourceRequest& request, ListWriter& writer)
    : writer_(writer),
      name_(KeptEncoding(request, writer)),
      encoding_(name_.empty() ? Encoding::kPlain : Encoding::kUndecided) {}

void ListBody::Head(std::string text) {
  pieces_.Text(text);
  head_ = std::move(text);
}

void ListBody::Item(const storage::EntryPtr& entry) {
  if (encoding_ == Encoding::kCompressed) return AddToRun(entry);
  writer_.AppendItem(pieces_, entry);
  if (encoding_ == Encoding::kPlain) return;
  begun_.push_back(entry);
  if (pieces_.size() >= gzip::kWorthCompressing) Compress();
}

void ListBody::Tail(std::string_view text) {
  if (encoding_ != Encoding::kCompressed) return pieces_.Text(text);
  EndRun();
  AddStored(text);
  pieces_.Text(gzip_.Tail());
}

/// Starts the gzip body. The pieces so far have not been sent and are discarded; their items are added to runs.
void ListBody::Compress() {
  encoding_ = Encoding::kCompressed;
  pieces_.Take();
  pieces_.Text(gzip::Body::Head());
  AddStored(head_);
  for (const storage::EntryPtr& entry : std::exchange(begun_, {})) AddToRun(entry);
}

void ListBody::AddToRun(const storage::EntryPtr& entry) {
  const std::size_t bytes = entry->JsonText().size();
  if (bytes >= kRunBytes) EndRun();  // so that changes of small items do not recompress a large one
  const std::uint64_t id = IdentityOf(*entry);
  run_.push_back(entry);
  run_bytes_ += bytes;
  run_id_ = Mixed(run_id_, id);
  // Apart from the size limits, only its last item decides where a run ends. Therefore, lists that start at another
  // item or lack an item have the same runs again after a short distance.
  const bool chosen = (id >> 32) * (kRunBytes - kLeastRunBytes) < std::uint64_t{bytes} << 32;
  if (run_bytes_ >= kMostRunBytes || (chosen && run_bytes_ >= kLeastRunBytes)) EndRun();
}

void ListBody::EndRun() {
  if (run_.empty()) return;
  const bool first = std::exchange(first_run_, false);
  const auto make = [this, first](std::string_view) { return MakeRun(first); };
  const SharedBytes kept = run_.front()->Encoded(fmt::format("{}#{}{:x}", name_, first ? "first." : "", run_id_), make);
  gzip::Sum sum;
  std::memcpy(&sum, kept.View().data(), kSumBytes);
  gzip_.Add(sum);
  pieces_.Shared(kept, kept.View().substr(kSumBytes));
  run_.clear();
  run_bytes_ = run_id_ = 0;
}

std::string ListBody::MakeRun(bool first) {
  writer_.Continue(!first);
  Pieces plain;
  for (const storage::EntryPtr& entry : run_) writer_.AppendItem(plain, entry);
  const std::string text = plain.Join();
  worked_ += text.size();
  const gzip::Sum sum = gzip::SumOf(text);
  std::string made(reinterpret_cast<const char*>(&sum), kSumBytes);
  made += gzip::Deflate(text);
  return made;
}

void ListBody::AddStored(std::string_view text) {
  gzip_.Add(gzip::SumOf(text));
  pieces_.Text(gzip::Stored(text));
}

void ListBody::AddHeaders(mesh::Headers& headers) const {
  if (encoding_ != Encoding::kCompressed) return;
  headers.emplace_back("content-encoding", "gzip");
  headers.emplace_back("vary", "Accept-Encoding");
}

Task<> ListBody::Rest() {
  worked_ = 0;
  const auto executor = co_await boost::asio::this_coro::executor;
  co_await boost::asio::post(executor, boost::asio::use_awaitable);
}

}  // namespace apimesh::endpoint
