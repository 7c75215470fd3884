#include "services/aggregator/extensions/responses.h"

#include <algorithm>

#include "lib/base/text/text.h"
#include "lib/meta/errors/other_errors.h"
#include "lib/service/reverse_proxy.h"

namespace apimesh::aggregator {
namespace {

constexpr std::string_view kAllowed[] = {"content-type", "etag", "retry-after", "warning"};
constexpr std::size_t kMaxHeaders = 64, kMaxValue = 4096;

bool IsText(std::string_view value) {
  return value.size() <= kMaxValue && std::all_of(value.begin(), value.end(), [](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return byte >= 0x20 && byte != 0x7f;
         });
}

mesh::Response BadGateway(std::string_view why) {
  return mesh::Response::Error(
      meta::RouterError(502, meta::Reason::kInternalError, fmt::format("the extension server sent {}", why)));
}

}  // namespace

std::optional<mesh::Response> CheckHead(int& code, mesh::Headers& headers) {
  if (code == 0) code = 200;
  if (code < 200 || code > 599) return BadGateway("an invalid status code");
  if (headers.size() > kMaxHeaders) return BadGateway("too many headers");
  for (auto& [name, value] : headers) name = LowerCase(name);
  if (service::IsRedirect(code, headers)) return BadGateway("a redirect, which is not permitted");
  std::erase_if(headers, [](const auto& header) {
    return std::find(std::begin(kAllowed), std::end(kAllowed), header.first) == std::end(kAllowed);
  });
  bool typed = false;
  for (const auto& [name, value] : headers) {
    if (!IsText(value)) return BadGateway("a malformed header");
    typed = typed || name == "content-type";
  }
  if (!typed) headers.emplace_back("content-type", "application/json");
  return std::nullopt;
}

Task<bool> CheckedStream::WriteHead(int code, mesh::Headers headers) {
  std::optional<mesh::Response> refusal = CheckHead(code, headers);
  if (refusal) {
    co_await stream_.WriteComplete(std::move(*refusal));
    co_return false;
  }
  co_return co_await stream_.WriteHead(code, std::move(headers));
}

Task<bool> CheckedStream::WriteComplete(mesh::Response response) {
  std::optional<mesh::Response> refusal = CheckHead(response.code, response.headers);
  return stream_.WriteComplete(refusal ? std::move(*refusal) : std::move(response));
}

}  // namespace apimesh::aggregator
