#include "lib/http/answer.h"

#include <algorithm>
#include <charconv>

#include <boost/beast/http/status.hpp>

#include "lib/gzip/accepts.h"
#include "lib/http/connection.h"
#include "lib/http/header_value.h"
#include "lib/http/request_body.h"

namespace apimesh::http {
namespace {

constexpr std::size_t kCompressedChunkBytes = 64 << 10;
constexpr std::size_t kCompressBeforeYield = 256 << 10;

class Tunnel final : public RawConnection {
 public:
  explicit Tunnel(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}
  ~Tunnel() override { connection_->Cut(); }
  Task<std::string> Read() override { return connection_->ReadRaw(); }
  Task<bool> Write(std::string data) override {
    std::vector<std::string_view> pieces{data};
    co_return co_await connection_->Write(std::move(pieces));
  }
  void Close() override { connection_->Cut(); }

 private:
  std::shared_ptr<Connection> connection_;
};

// Header names are written in canonical form ("Content-Type"), as kube-apiserver does.
void AppendName(std::string& out, std::string_view name) {
  bool start = true;
  for (std::size_t i = out.size(), end = out.append(name).size(); i < end; ++i) {
    char& c = out[i];
    if (start && c >= 'a' && c <= 'z') c = static_cast<char>(c - ('a' - 'A'));
    start = c == '-';
  }
}

void AppendField(std::string& out, std::string_view name, std::string_view value) {
  AppendName(out, name);
  out += ": ";
  AppendHeaderValue(out, value);
  out += "\r\n";
}

void AppendNumber(std::string& out, std::size_t number, int base = 10) {
  char digits[20];
  out.append(digits, std::to_chars(digits, std::end(digits), number, base).ptr);
}

std::vector<std::string_view> Views(const std::vector<SharedBytes>& body, std::size_t extra) {
  std::vector<std::string_view> views;
  views.reserve(body.size() + extra);
  return views;
}

void AppendChunkHead(std::string& out, std::size_t size) {
  AppendNumber(out, size, 16);
  out += "\r\n";
}

}  // namespace

Chunk::Chunk(const std::vector<SharedBytes>& pieces) {
  std::size_t size = 0;
  for (const SharedBytes& piece : pieces) size += piece.size();
  if (size == 0) return;
  std::string wire;
  wire.reserve(size + 24);
  AppendChunkHead(wire, size);
  const std::size_t head = wire.size();
  for (const SharedBytes& piece : pieces) wire += piece.View();
  wire += "\r\n";
  const SharedBytes all(std::move(wire));
  wire_ = all.View();
  body_ = SharedBytes(all.Owner(), wire_.substr(head, size));
}

AnswerWriter::Facts AnswerWriter::Facts::Of(const Request& request, bool http10, bool keep_alive) {
  return {.head_only = request.method == "HEAD",
          .http10 = http10,
          .keep_alive = keep_alive && !http10,
          .accepts_gzip = gzip::Accepts(request.Header("accept-encoding"))};
}

AnswerWriter::AnswerWriter(std::shared_ptr<Connection> connection, Facts facts, RequestBody* body)
    : connection_(std::move(connection)), facts_(facts), body_(body) {}
AnswerWriter::~AnswerWriter() = default;

Task<BodyResult> ResponseWriter::ReadBody(BodyTerms /*terms*/) { co_return std::string(); }

bool AnswerWriter::HasBody() const { return body_ && body_->Unread(); }
bool AnswerWriter::BodyArrived() { return !body_ || body_->Arrived(); }
Task<BodyResult> AnswerWriter::ReadBody(BodyTerms terms) { return body_->Read(std::move(terms)); }

std::string AnswerWriter::Head(int code, const Headers& headers, Body body, std::size_t length) {
  head_sent_ = true;
  if (connection_->Draining() || FindHeader(headers, "connection") == "close" || body == Body::kUntilClose ||
      (body_ && !body_->CanSkip())) {
    facts_.keep_alive = false;
  }
  std::string head;
  head.reserve(512);
  const auto reason = boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(code));
  head += "HTTP/1.1 ";
  AppendNumber(head, static_cast<std::size_t>(code));
  head += ' ';
  head.append(reason.data(), reason.size());
  head += "\r\n";
  bool has_date = false;
  for (const auto& [name, value] : headers) {
    if (name == "connection" || name == "transfer-encoding" || name == "content-length") continue;
    has_date |= name == "date";
    AppendField(head, name, value);
  }
  if (!has_date) AppendField(head, "date", DateText(connection_->GetClock().Now()));
  if (body == Body::kLength) {
    head += "Content-Length: ";
    AppendNumber(head, length);
    head += "\r\n";
  } else if (body == Body::kChunked) {
    head += "Transfer-Encoding: chunked\r\n";
  }
  if (!facts_.keep_alive) head += "Connection: close\r\n";
  head += "\r\n";
  return head;
}

Task<bool> AnswerWriter::Send(int code, Headers headers, std::vector<SharedBytes> body) {
  std::size_t length = 0;
  for (const SharedBytes& piece : body) length += piece.size();
  const bool compress = facts_.accepts_gzip && length >= connection_->GetLimits().gzip_minimum && !facts_.head_only &&
                        !HasNoBody(code) && FindHeader(headers, "content-encoding").empty();
  if (compress) co_return co_await SendCompressed(code, std::move(headers), std::move(body));
  // The response to a HEAD may have the length of a body that it does not contain.
  if (facts_.head_only && length == 0) {
    length = std::strtoull(std::string(FindHeader(headers, "content-length")).c_str(), nullptr, 10);
  }
  const std::string head = Head(code, headers, HasNoBody(code) ? Body::kNone : Body::kLength, length);
  std::vector<std::string_view> views = Views(body, 1);
  views.push_back(head);
  if (!facts_.head_only && !HasNoBody(code)) {
    for (const SharedBytes& piece : body) views.push_back(piece.View());
  }
  finished_ = co_await connection_->Write(std::move(views), body);
  co_return finished_;
}

Task<bool> AnswerWriter::SendCompressed(int code, Headers headers, std::vector<SharedBytes> body) {
  if (!co_await Start(code, std::move(headers), true)) co_return false;
  const auto executor = co_await boost::asio::this_coro::executor;
  std::string out;
  std::size_t since_yield = 0;
  for (const SharedBytes& piece : body) {
    for (std::string_view rest = piece.View(); !rest.empty();) {
      const std::string_view part = rest.substr(0, kCompressBeforeYield);
      rest.remove_prefix(part.size());
      gzip_->Add(part, false, out);
      if (!piece.StillValid()) co_return Revoked();
      since_yield += part.size();
      if (since_yield >= kCompressBeforeYield) {  // lets other connections of this thread run
        since_yield = 0;
        co_await boost::asio::post(executor, boost::asio::use_awaitable);
      }
      if (out.size() < kCompressedChunkBytes) continue;
      std::vector<std::string_view> pieces{out};
      if (!co_await WriteChunk(std::move(pieces))) co_return false;
      out.clear();
    }
  }
  if (!out.empty()) {
    std::vector<std::string_view> pieces{out};
    if (!co_await WriteChunk(std::move(pieces))) co_return false;
  }
  co_return co_await Finish();
}

Task<bool> AnswerWriter::Start(int code, Headers headers, bool compress) {
  body_ignored_ = facts_.head_only || HasNoBody(code);
  if (compress && facts_.accepts_gzip && !body_ignored_ && FindHeader(headers, "content-encoding").empty()) {
    gzip_ = std::make_unique<gzip::Stream>();
    headers.emplace_back("content-encoding", "gzip");
    headers.emplace_back("vary", "Accept-Encoding");
  }
  const Body body = HasNoBody(code) ? Body::kNone : facts_.http10 ? Body::kUntilClose : Body::kChunked;
  const std::string head = Head(code, headers, body, 0);
  std::vector<std::string_view> pieces{head};
  co_return co_await connection_->Write(std::move(pieces));
}

Task<bool> AnswerWriter::Write(std::vector<SharedBytes> pieces) {
  if (gzip_) {
    std::string out;
    for (std::size_t i = 0; i < pieces.size(); ++i) gzip_->Add(pieces[i].View(), i + 1 == pieces.size(), out);
    if (!StillValid(pieces)) co_return Revoked();
    std::vector<std::string_view> compressed{out};
    co_return co_await WriteChunk(std::move(compressed));
  }
  std::vector<std::string_view> views = Views(pieces, 2);
  for (const SharedBytes& piece : pieces) views.push_back(piece.View());
  co_return co_await WriteChunk(std::move(views), pieces);
}

bool AnswerWriter::TryWrite(const Chunk& chunk) {
  if (gzip_ || body_ignored_ || facts_.http10 || chunk.empty()) return false;
  return connection_->TryWrite(chunk.Wire());
}

Task<bool> AnswerWriter::WriteChunk(std::vector<std::string_view> pieces, std::span<const SharedBytes> sources) {
  std::size_t size = 0;
  for (const std::string_view piece : pieces) size += piece.size();
  if (size == 0 || body_ignored_) co_return true;  // a chunk of size 0 would end the response
  std::string line;
  if (!facts_.http10) {
    AppendChunkHead(line, size);
    pieces.insert(pieces.begin(), line);
    pieces.push_back("\r\n");
  }
  co_return co_await connection_->Write(std::move(pieces), sources);
}

Task<bool> AnswerWriter::Finish() {
  std::string last;
  if (gzip_) {
    gzip_->Finish(last);
    std::vector<std::string_view> pieces{last};
    if (!co_await WriteChunk(std::move(pieces))) co_return false;
  }
  finished_ = true;
  if (facts_.http10 || body_ignored_) co_return true;
  std::vector<std::string_view> end{"0\r\n\r\n"};
  finished_ = co_await connection_->Write(std::move(end));
  co_return finished_;
}

bool AnswerWriter::Revoked() {
  connection_->Cut();
  return false;
}

void AnswerWriter::Abort() {
  connection_->SetDisconnectCallback(nullptr);
  head_sent_ = true;
  connection_->Cut();
}

Task<std::unique_ptr<RawConnection>> AnswerWriter::Upgrade(Headers headers) {
  head_sent_ = true;
  if (HasBody()) {  // the other side would treat the body as its own data
    connection_->Cut();
    co_return nullptr;
  }
  std::string head = "HTTP/1.1 101 Switching Protocols\r\n";
  bool has_connection = false;
  for (const auto& [name, value] : headers) {
    has_connection |= name == "connection";
    AppendField(head, name, value);
  }
  if (!has_connection) head += "Connection: Upgrade\r\n";
  head += "\r\n";
  std::vector<std::string_view> pieces{head};
  if (!co_await connection_->Write(std::move(pieces))) co_return nullptr;
  finished_ = true;
  connection_->BecomeTunnel();
  co_return std::make_unique<Tunnel>(connection_);
}

void AnswerWriter::OnDisconnect(std::function<void()> callback) {
  connection_->SetDisconnectCallback(std::move(callback));
}

}  // namespace apimesh::http
