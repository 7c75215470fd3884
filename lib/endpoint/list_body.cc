#include "lib/endpoint/list_body.h"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <cstring>
#include <random>

#include "lib/gzip/accepts.h"

namespace apimesh::endpoint {
namespace {

// An object compressed alone takes a fifth of its JSON, eight that are alike together a twentieth. The longer a run, the better
// it is compressed, and the more of it has to be made again when one of its objects changes.
constexpr std::size_t kRunBytes = 32 << 10;
constexpr std::size_t kLeastRunBytes = 8 << 10;
constexpr std::size_t kMostRunBytes = 64 << 10;

std::string KeptForm(const ResourceRequest& request, const ListWriter& writer) {
  const bool packs = request.http.method == "GET" && gzip::Accepts(request.http.Header("accept-encoding"));
  const std::string form = packs ? writer.ItemForm() : std::string();
  return form.empty() ? form : "gzip." + form;
}

std::uint64_t Mixed(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xd6e8feb86659fd93u);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// Different for any two objects, and for any two states of one; nobody outside can tell how.
std::uint64_t IdentityOf(const storage::Entry& entry) {
  static const std::uint64_t secret = [] {
    std::random_device random;
    return std::uint64_t{random()} << 32 | random();
  }();
  return Mixed(Mixed(secret, entry.ModRevision()), std::hash<std::string_view>()(entry.GetKey().text));
}

/// A kept run: its sum as it is in memory, then its deflate blocks.
constexpr std::size_t kSumBytes = sizeof(gzip::Sum);
static_assert(kSumBytes == 16, "no holes");

}  // namespace

ListBody::ListBody(const ResourceRequest& request, ListWriter& writer)
    : writer_(writer), name_(KeptForm(request, writer)), form_(name_.empty() ? Form::kPlain : Form::kUndecided) {}

void ListBody::Head(std::string text) {
  pieces_.Text(text);
  head_ = std::move(text);
}

void ListBody::Item(const storage::EntryPtr& entry) {
  if (form_ == Form::kPacked) return AddToRun(entry);
  writer_.AppendItem(pieces_, entry);
  if (form_ == Form::kPlain) return;
  begun_.push_back(entry);
  if (pieces_.size() >= gzip::kWorthCompressing) Pack();
}

void ListBody::Tail(std::string_view text) {
  if (form_ != Form::kPacked) return pieces_.Text(text);
  EndRun();
  AddStored(text);
  pieces_.Text(gzip_.Tail());
}

/// What was written so far, and nobody has seen, is written again.
void ListBody::Pack() {
  form_ = Form::kPacked;
  pieces_.Take();
  pieces_.Text(gzip::Body::Head());
  AddStored(head_);
  for (const storage::EntryPtr& entry : std::exchange(begun_, {})) AddToRun(entry);
}

void ListBody::AddToRun(const storage::EntryPtr& entry) {
  const std::size_t bytes = entry->JsonText().size();
  if (bytes >= kRunBytes) EndRun();  // so large a one is not to be made again because a small one has changed
  const std::uint64_t id = IdentityOf(*entry);
  run_.push_back(entry);
  run_bytes_ += bytes;
  run_id_ = Mixed(run_id_, id);
  // Where a run ends depends on its last item alone. So lists that begin elsewhere, or have lost an item, soon have the same runs.
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

void ListBody::AddHeaders(rpc::Headers& headers) const {
  if (form_ != Form::kPacked) return;
  headers.emplace_back("content-encoding", "gzip");
  headers.emplace_back("vary", "Accept-Encoding");
}

Task<> ListBody::Rest() {
  worked_ = 0;
  const auto executor = co_await boost::asio::this_coro::executor;
  co_await boost::asio::post(executor, boost::asio::use_awaitable);
}

}  // namespace apimesh::endpoint
