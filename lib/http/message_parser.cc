#include "lib/http/message_parser.h"

#include <algorithm>

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>

#include "lib/base/text/text.h"
#include "lib/http/client.h"

namespace apimesh::http {
namespace {

namespace beast = boost::beast;
using beast::error_code;
using beast::string_view;
using BeastError = beast::http::error;

std::string Text(string_view text) { return std::string(text.data(), text.size()); }

}  // namespace

std::string_view FindHeader(const Headers& headers, std::string_view name) {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

std::string_view Request::Header(std::string_view name) const { return FindHeader(headers, name); }
std::string_view ClientResponse::Header(std::string_view name) const { return FindHeader(headers, name); }

class RequestParser::Impl final : public beast::http::basic_parser<true> {
 public:
  explicit Impl(const Limits& limits) : body_limit_bytes_(limits.body_bytes), header_fields_(limits.header_fields) {
    header_limit(static_cast<std::uint32_t>(limits.header_bytes));
    body_limit(boost::none);  // Beast would refuse a large Content-Length together with the head; here it is refused
                              // when the body is read
    request_.headers.reserve(12);
  }

  Request request_;
  std::string body_;
  ParseFailure failure_ = ParseFailure::kNone;
  bool expects_continue_ = false;
  bool http10_ = false;
  bool keep_body_ = true;

 private:
  void on_request_impl(beast::http::verb, string_view method, string_view target, int version,
                       error_code& ec) override {
    if (version != 10 && version != 11) {
      ec = BeastError::bad_version;
      return;
    }
    http10_ = version == 10;
    request_.method = Text(method);
    request_.target = Text(target);
  }
  void on_response_impl(int, string_view, int, error_code&) override {}

  void on_field_impl(beast::http::field field, string_view name, string_view value, error_code& ec) override {
    if (head_done_) return;  // trailers are read but not used
    if (request_.headers.size() >= header_fields_) {
      failure_ = ParseFailure::kHeadersTooLarge;
      ec = BeastError::header_limit;
      return;
    }
    switch (field) {
      case beast::http::field::host:
        if (++hosts_ > 1) ec = BeastError::bad_field;
        break;
      case beast::http::field::transfer_encoding:
        // Any other value than a single "chunked" is interpreted differently by some servers, which allows request
        // smuggling.
        if (http10_ || !beast::iequals(value, "chunked")) {
          failure_ = ParseFailure::kTransferEncoding;
          ec = BeastError::bad_transfer_encoding;
        }
        break;
      case beast::http::field::expect: expects_continue_ = beast::iequals(value, "100-continue"); break;
      default: break;
    }
    request_.headers.emplace_back(LowerCase(name), Text(value));
  }
  void on_header_impl(error_code& ec) override {
    head_done_ = true;
    if (hosts_ == 0 && !http10_) ec = BeastError::bad_field;
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>& length, error_code& ec) override {
    if (!keep_body_ || !length) return;
    if (*length > body_limit_bytes_) return Refuse(ParseFailure::kBodyTooLarge, ec);
    body_.reserve(*length);
  }
  std::size_t on_body_impl(string_view body, error_code&) override {
    if (keep_body_) body_.append(body.data(), body.size());
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t size, string_view extension, error_code& ec) override {
    if (keep_body_ && size > body_limit_bytes_ - std::min(body_.size(), body_limit_bytes_)) {
      return Refuse(ParseFailure::kBodyTooLarge, ec);
    }
    // Chunk extensions are not used; a client that sends many of them only wastes CPU time.
    const std::uint64_t allowed = kExtensionBytes + 2 * std::min<std::uint64_t>(size, body_limit_bytes_);
    extension_bytes_ += extension.size();
    extension_bytes_ -= std::min(extension_bytes_, allowed);
    if (extension_bytes_ > kExcessExtensionBytes) Refuse(ParseFailure::kBadMessage, ec);
  }
  std::size_t on_chunk_body_impl(std::uint64_t, string_view body, error_code& ec) override {
    return on_body_impl(body, ec);
  }
  void on_finish_impl(error_code&) override {}

  void Refuse(ParseFailure failure, error_code& ec) {
    failure_ = failure;
    ec = BeastError::body_limit;
  }

  static constexpr std::uint64_t kExtensionBytes = 16,
                                 kExcessExtensionBytes = 16 << 10;  // free per chunk; total above that
  const std::size_t body_limit_bytes_, header_fields_;
  std::uint64_t extension_bytes_ = 0;
  int hosts_ = 0;
  bool head_done_ = false;
};

RequestParser::RequestParser(const Limits& limits) : impl_(std::make_unique<Impl>(limits)) {}
RequestParser::~RequestParser() = default;

std::size_t RequestParser::Feed(std::string_view data) {
  error_code ec;
  const std::size_t used = impl_->put(boost::asio::const_buffer(data.data(), data.size()), ec);
  if (ec && ec != BeastError::need_more && impl_->failure_ == ParseFailure::kNone) {
    impl_->failure_ = ec == BeastError::header_limit ? ParseFailure::kHeadersTooLarge : ParseFailure::kBadMessage;
  }
  return used;
}
std::size_t RequestParser::FeedBody(std::string_view data, Body body) {
  if (Done() || impl_->failure_ != ParseFailure::kNone) return 0;
  impl_->eager(true);
  impl_->keep_body_ = body == Body::kKeep;
  return Feed(data);
}
bool RequestParser::HeadDone() const { return impl_->is_header_done(); }
bool RequestParser::Done() const { return impl_->is_done(); }
ParseFailure RequestParser::Failure() const { return impl_->failure_; }
bool RequestParser::KeepAlive() const { return impl_->is_header_done() && impl_->keep_alive(); }
bool RequestParser::IsHttp10() const { return impl_->http10_; }
bool RequestParser::ExpectsContinue() const { return impl_->expects_continue_; }
Request RequestParser::TakeRequest() { return std::move(impl_->request_); }
std::optional<std::uint64_t> RequestParser::RemainingLength() const {
  if (Done()) return 0;
  const auto length = impl_->content_length_remaining();
  return length ? std::optional<std::uint64_t>(*length) : std::nullopt;
}
std::size_t RequestParser::KeptBytes() const { return impl_->body_.size(); }
std::string RequestParser::TakeBody() { return std::move(impl_->body_); }

class ResponseParser::Impl final : public beast::http::basic_parser<false> {
 public:
  Impl(bool answers_head, std::size_t header_limit_bytes, std::function<void(std::string_view)> sink)
      : sink_(std::move(sink)) {
    eager(true);
    skip(answers_head);
    header_limit(static_cast<std::uint32_t>(header_limit_bytes));
    body_limit(boost::none);  // the consumer of the pieces enforces the limit
  }

  Headers headers_;
  int code_ = 0;
  bool failed_ = false;

 private:
  void on_request_impl(beast::http::verb, string_view, string_view, int, error_code&) override {}
  void on_response_impl(int code, string_view, int, error_code&) override { code_ = code; }
  void on_field_impl(beast::http::field, string_view name, string_view value, error_code&) override {
    if (!head_done_) headers_.emplace_back(LowerCase(name), Text(value));
  }
  void on_header_impl(error_code&) override { head_done_ = true; }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(string_view body, error_code&) override {
    sink_(std::string_view(body.data(), body.size()));
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, string_view body, error_code& ec) override {
    return on_body_impl(body, ec);
  }
  void on_finish_impl(error_code&) override {}

  std::function<void(std::string_view)> sink_;
  bool head_done_ = false;
};

ResponseParser::ResponseParser(bool answers_head, std::size_t header_limit, std::function<void(std::string_view)> sink)
    : impl_(std::make_unique<Impl>(answers_head, header_limit, std::move(sink))) {}
ResponseParser::~ResponseParser() = default;

std::size_t ResponseParser::Feed(std::string_view data) {
  error_code ec;
  const std::size_t used = impl_->put(boost::asio::const_buffer(data.data(), data.size()), ec);
  if (ec && ec != BeastError::need_more) impl_->failed_ = true;
  return used;
}
bool ResponseParser::FeedEnd() {
  if (!impl_->is_header_done()) return false;
  error_code ec;
  impl_->put_eof(ec);
  return !ec && impl_->is_done();
}
bool ResponseParser::HeadDone() const { return impl_->is_header_done(); }
bool ResponseParser::Done() const { return impl_->is_done(); }
bool ResponseParser::Failed() const { return impl_->failed_; }
bool ResponseParser::KeepAlive() const { return impl_->is_header_done() && impl_->keep_alive(); }
int ResponseParser::Code() const { return impl_->code_; }
Headers ResponseParser::TakeHeaders() { return std::move(impl_->headers_); }

}  // namespace apimesh::http
