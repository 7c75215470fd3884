#include "services/aggregator/apiservices/openapi_copy.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/endpoint/hashed_document.h"
#include "lib/service/chain.h"
#include "services/aggregator/apiservices/external_discovery.h"
#include "services/aggregator/delegation/route_table.h"
#include "services/aggregator/discovery/openapi_merge.h"

namespace apimesh::aggregator {
namespace {

namespace asio = boost::asio;
namespace json = meta::json;

constexpr std::string_view kV2Path = "/openapi/v2";
constexpr std::string_view kProtobufV3 = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf";
/// The largest document that is kept. That of 1,000 resources has about 2 MB.
constexpr std::size_t kMaxBytes = 4U << 20;
constexpr const char* kAcceptProtobufV3 = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf";
/// The bytes of a response are limited by the client. Documents are trees of schemas, which are not deep.
constexpr codec::ParseLimits kLimits{.depth = 200, .bytes = 64U << 20};

/// Returns the parts of an OpenAPI v2 document that describe the paths below `prefix`; "" if it is no document.
Task<std::string> Filter(std::string text, std::string prefix) {
  meta::Result<json::value> parsed = codec::ParseJson(text, meta::NewArena(), nullptr, kLimits);
  if (!parsed || !parsed->is_object()) co_return "";
  KeepPaths(parsed->get_object(), [&prefix](std::string_view path) { return path.starts_with(prefix); });
  json::object kept;
  for (const char* section : {"paths", "definitions", "parameters"}) {
    const json::value* found = meta::FindField(parsed->get_object(), section);
    kept.emplace(section, found && found->is_object() ? found->get_object() : json::object());
  }
  co_return codec::WriteJson(kept);
}

/// Returns the hash of an OpenAPI v3 document; "" if it is no document.
Task<std::string> HashOfDocument(std::string text) {
  const meta::Result<json::value> parsed = codec::ParseJson(text, meta::NewArena(), nullptr, kLimits);
  if (!parsed || !parsed->is_object()) co_return "";
  co_return fmt::format("{:016X}", std::hash<std::string>()(text));
}

std::string Failure(std::string_view path, const http::ClientResult<http::ClientResponse>& answer) {
  return fmt::format("{}: {}", path,
                     answer ? fmt::format("code {}", answer->code) : std::string(answer.error().message));
}

}  // namespace

OpenApiCopy::OpenApiCopy(std::string group, std::string version)
    : group_(std::move(group)),
      version_(std::move(version)),
      v3_path_(fmt::format("/openapi/v3/apis/{}/{}", group_, version_)) {}

OpenApiCopy::Documents OpenApiCopy::Current() const {
  const std::lock_guard lock(mutex_);
  return documents_;
}

std::string OpenApiCopy::Hash() const { return Current().hash; }

std::uint64_t OpenApiCopy::Version() const { return Current().version; }

Task<std::string> OpenApiCopy::RefreshV2(const AskFn& ask, asio::any_io_executor executor) {
  Documents documents = Current();
  Question question{std::string(kV2Path), "application/json", documents.v2_etag};
  http::ClientResult<http::ClientResponse> answer = co_await ask(std::move(question));
  // Not every server has this document.
  if (answer && (answer->code == 404 || (answer->code == 304 && !documents.v2_etag.empty()))) co_return "";
  if (!answer || answer->code != 200) co_return Failure(kV2Path, answer);
  Task<std::string> filter = Filter(std::move(answer->body), fmt::format("/apis/{}/{}/", group_, version_));
  std::string text = co_await asio::co_spawn(executor, std::move(filter), asio::use_awaitable);
  if (text.empty()) co_return fmt::format("{}: the response is not an OpenAPI document", kV2Path);
  if (text.size() > kMaxBytes) co_return fmt::format("{}: the document is too large", kV2Path);
  const std::lock_guard lock(mutex_);
  documents_.v2_etag = answer->Header("etag");
  if (documents_.v2.View() != text) {
    documents_.v2 = SharedBytes(std::move(text));
    documents_.version = NewOpenApiVersion();
  }
  co_return "";
}

Task<std::string> OpenApiCopy::RefreshV3(const AskFn& ask, asio::any_io_executor executor) {
  Documents documents = Current();
  Question for_index{"/openapi/v3", "application/json", ""};
  http::ClientResult<http::ClientResponse> index = co_await ask(std::move(for_index));
  if (index && index->code == 404) co_return "";
  if (!index || index->code != 200) co_return Failure("/openapi/v3", index);
  if (index->body.size() > kMaxBytes) co_return "/openapi/v3: the document is too large";
  const std::optional<std::string> hash = OpenApiHash(index->body, group_, version_);
  if (!hash || (!hash->empty() && *hash == documents.hash)) co_return "";
  Question for_document{v3_path_, "application/json", ""};
  http::ClientResult<http::ClientResponse> document = co_await ask(std::move(for_document));
  if (!document || document->code != 200) co_return Failure(v3_path_, document);
  if (document->body.size() > kMaxBytes) co_return fmt::format("{}: the document is too large", v3_path_);
  Task<std::string> work = HashOfDocument(document->body);
  std::string own_hash = co_await asio::co_spawn(executor, std::move(work), asio::use_awaitable);
  if (own_hash.empty()) co_return fmt::format("{}: the response is not an OpenAPI document", v3_path_);
  Question for_protobuf{v3_path_, kAcceptProtobufV3, ""};
  http::ClientResult<http::ClientResponse> protobuf = co_await ask(std::move(for_protobuf));
  std::string bytes;
  if (protobuf && protobuf->code == 200 && protobuf->body.size() <= kMaxBytes &&
      protobuf->Header("content-type").find("protobuf") != std::string_view::npos)
    bytes = std::move(protobuf->body);
  const std::lock_guard lock(mutex_);
  documents_.hash = hash->empty() ? std::move(own_hash) : *hash;
  documents_.v3 = SharedBytes(std::move(document->body));
  documents_.v3_protobuf = SharedBytes(std::move(bytes));
  co_return "";
}

Task<std::string> OpenApiCopy::Refresh(AskFn ask, asio::any_io_executor executor) {
  std::string v2 = co_await RefreshV2(ask, executor);
  std::string v3 = co_await RefreshV3(ask, executor);
  co_return v2.empty() || v3.empty() ? v2 + v3 : v2 + "; " + v3;
}

std::optional<mesh::Response> OpenApiCopy::Answer(const mesh::Request& request) const {
  if (request.path == kV2Path) {
    const SharedBytes document = Current().v2;
    if (document.View().empty()) return service::PlainNotFound();
    mesh::Response response;
    response.headers.emplace_back("content-type", "application/json");
    response.body.push_back(document);
    return response;
  }
  if (request.path != v3_path_) return std::nullopt;
  const Documents documents = Current();
  if (documents.hash.empty()) return service::PlainNotFound();
  const bool protobuf = !documents.v3_protobuf.View().empty() &&
                        request.Header("accept").find(kAcceptProtobufV3) != std::string_view::npos;
  const auto document = [&] { return protobuf ? documents.v3_protobuf : documents.v3; };
  return endpoint::AnswerHashedDocument(request, documents.hash,
                                        std::string(protobuf ? kProtobufV3 : "application/json"), document);
}

}  // namespace apimesh::aggregator
