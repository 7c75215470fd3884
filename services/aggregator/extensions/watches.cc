#include "services/aggregator/extensions/watches.h"

#include <charconv>

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/endpoint/input/query.h"
#include "lib/meta/errors/other_errors.h"
#include "proto/mesh/v1/delegate.pb.h"
#include "services/aggregator/extensions/responses.h"

namespace apimesh::aggregator {
namespace {

namespace json = meta::json;

constexpr std::size_t kMaxErrorBytes = 64 << 10;
constexpr std::int64_t kLeastSeconds = 1800;

std::optional<std::uint64_t> ParseVersion(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size() || number == 0) return std::nullopt;
  return number;
}

std::vector<SharedBytes> Piece(std::string bytes) {
  std::vector<SharedBytes> pieces;
  pieces.emplace_back(std::move(bytes));
  return pieces;
}

std::string StatusOf(const meta::ApiError& error) { return boost::json::serialize(error.ToStatus()); }

}  // namespace

std::optional<std::uint64_t> StartOf(const mesh::Request& watch) {
  const endpoint::Query query(watch.query);
  if (query.Has("sendInitialEvents") || query.Has("resourceVersionMatch")) return std::nullopt;
  return ParseVersion(query.First("resourceVersion"));
}

std::chrono::seconds TimeoutOf(const mesh::Request& watch) {
  const auto asked = endpoint::Query(watch.query).Integer("timeoutSeconds");
  if (asked && *asked && **asked > 0) return std::chrono::seconds(std::min<std::int64_t>(**asked, 24 * 3600));
  // The audit ID spreads the watches, so that not all clients watch again at the same time.
  const auto more = static_cast<std::int64_t>(std::hash<std::string>()(watch.audit_id) % kLeastSeconds);
  return std::chrono::seconds(kLeastSeconds + more);
}

Task<> CatchUp(mesh::Request request, std::uint64_t start, std::string kind, mesh::ResponseStream& stream) {
  const std::chrono::milliseconds timeout = TimeoutOf(request);
  mesh::Headers headers = {{"content-type", "application/json"},
                           {std::string(mesh::kWatchTimeoutHeader), std::to_string(timeout.count())}};
  const bool open = co_await stream.WriteHead(200, std::move(headers));
  if (!open) co_return;
  if (request.watch_phase == mesh::v1::WATCH_PHASE_FINAL_BOOKMARK) {
    const meta::GroupVersion version{request.info.api_group, request.info.api_version};
    std::string line = codec::WriteJson(json::object{{"type", "BOOKMARK"},
                                                     {"object",
                                                      {{"kind", kind},
                                                       {"apiVersion", version.ToString()},
                                                       {"metadata", {{"resourceVersion", std::to_string(start)}}}}}});
    co_await stream.Write(Piece(std::move(line) + "\n"));
    co_return;
  }
  std::vector<SharedBytes> none;
  const mesh::ResumePosition position{start, false};
  co_await stream.WriteEvents(std::move(none), position);
}

Task<bool> FollowedWatch::WriteHead(int code, mesh::Headers headers) {
  const std::optional<mesh::Response> refusal = CheckHead(code, headers);
  code_ = refusal ? refusal->code : code;
  if (code_ != 200) co_return true;  // the body explains the error
  mesh::Headers none;
  co_return co_await out_.WriteHead(200, std::move(none));
}

Task<bool> FollowedWatch::WriteComplete(mesh::Response response) {
  const bool wanted = co_await WriteHead(response.code, std::move(response.headers));
  if (!wanted) co_return false;
  co_return co_await Write(std::move(response.body));
}

Task<bool> FollowedWatch::Write(std::vector<SharedBytes> pieces) {
  if (ended_) co_return false;
  for (const SharedBytes& piece : pieces) rest_ += piece.View();
  if (code_ != 200) co_return rest_.size() <= kMaxErrorBytes;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    if (end == begin) continue;
    const bool open = co_await WriteLine(rest_.substr(begin, end + 1 - begin));
    if (!open) co_return false;
  }
  rest_.erase(0, begin);
  if (rest_.size() <= kMaxExtensionMessage) co_return true;
  std::string status = StatusOf(meta::InternalError("an event of the extension server is too large"));
  co_return co_await Fail(std::move(status));
}

Task<bool> FollowedWatch::WriteLine(std::string line) {
  codec::ParseLimits limits;
  limits.bytes = kMaxExtensionMessage;
  const meta::Result<json::value> event = codec::ParseJson(line, meta::NewArena(), nullptr, limits);
  const std::string_view type =
      event && event->is_object() ? meta::FindString(event->get_object(), "type") : std::string_view();
  if (type == "ERROR") {
    ended_ = true;
    co_await out_.Write(Piece(std::move(line)));
    co_return false;
  }
  std::optional<std::uint64_t> version;
  if (!type.empty())
    version = ParseVersion(meta::FindString(event->get_object(), "object", "metadata", "resourceVersion"));
  const bool bookmark = type == "BOOKMARK";
  if (!version || *version < position_ || (*version == position_ && !bookmark)) {
    std::string status =
        StatusOf(meta::InternalError("the events of the extension server have no increasing resource versions"));
    co_return co_await Fail(std::move(status));
  }
  position_ = *version;
  const mesh::ResumePosition position{position_, bookmark};
  co_return co_await out_.WriteEvents(Piece(std::move(line)), position);
}

Task<bool> FollowedWatch::Fail(std::string status) {
  ended_ = true;
  co_await out_.Write(Piece(fmt::format("{{\"type\":\"ERROR\",\"object\":{}}}\n", status)));
  co_return false;
}

Task<> FollowedWatch::Finish() {
  if (ended_ || code_ == 200 || code_ == 0) co_return;
  mesh::Headers none;
  const bool open = co_await out_.WriteHead(200, std::move(none));
  if (!open) co_return;
  const meta::Result<json::value> body = codec::ParseJson(rest_, meta::NewArena());
  const bool is_status = body && body->is_object() && meta::FindString(body->get_object(), "kind") == "Status";
  std::string status;
  if (is_status) {
    status = codec::WriteJson(*body);
  } else {
    status = StatusOf(meta::RouterError(code_, meta::Reason::kInternalError,
                                        fmt::format("the extension server answered with {}", code_)));
  }
  co_await Fail(std::move(status));
}

}  // namespace apimesh::aggregator
