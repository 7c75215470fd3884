#include "lib/mesh/api_client.h"

#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/mesh/collected_response.h"

namespace apimesh::mesh {
namespace {

constexpr std::size_t kMaxBytes = 1u << 30;  // of a list

}  // namespace

meta::UserInfo ServerUser() {
  meta::UserInfo user;
  user.name = "system:apiserver";
  user.groups = {"system:masters", "system:authenticated"};
  return user;
}

Request ToRequest(ApiRequest from) {
  Request request;
  request.info = meta::ParseRequestInfo(from.method, from.path, from.query);
  request.headers.emplace_back("accept", "application/json");
  if (from.method != "GET") request.headers.emplace_back("content-type", std::move(from.content_type));
  request.headers.emplace_back("user-agent", std::move(from.user_agent));
  request.method = std::move(from.method);
  request.path = std::move(from.path);
  request.query = std::move(from.query);
  request.body = std::move(from.body);
  request.user = std::move(from.user);
  request.deadline = from.deadline;
  return request;
}

meta::Result<meta::Object> ReadObject(const Response& response, std::string_view what) {
  codec::ParseLimits limits;
  limits.bytes = kMaxBytes;
  meta::Result<meta::json::value> parsed = codec::ParseJson(response.Text(), {}, nullptr, limits);
  if (!parsed || !parsed->is_object()) {
    return meta::InternalError(fmt::format("{} was answered with {}", what, response.code));
  }
  if (response.code >= 300) return meta::FromStatus(parsed->get_object());
  return meta::Object(std::move(parsed->get_object()));
}

std::vector<meta::Object> TakeItems(meta::Object& list) {
  std::vector<meta::Object> items;
  meta::json::value* const found = meta::FindField(list.Root(), "items");
  if (!found || !found->is_array()) return items;
  items.reserve(found->get_array().size());
  for (meta::json::value& item : found->get_array()) {
    if (item.is_object()) items.emplace_back(std::move(item.get_object()));
  }
  return items;
}

Task<Response> ApiClient::Send(ApiRequest from) const {
  CollectedResponse collected(std::move(from.on_cancel));
  Request request = ToRequest(std::move(from));
  if (request.info.verb != meta::Verb::kList) {
    Response response = co_await server_->Call(std::move(request));
    co_return response;
  }
  const std::string path = request.path;
  co_await server_->Stream(std::move(request), collected);
  if (!collected.Complete()) {
    co_return Response::Error(meta::ServiceUnavailable(fmt::format("the list of {} ended early", path)));
  }
  co_return collected.Take();
}

Task<meta::Result<meta::Object>> ApiClient::SendForObject(ApiRequest request) const {
  const std::string what = fmt::format("{} {}", request.method, request.path);
  const Response response = co_await Send(std::move(request));
  co_return ReadObject(response, what);
}

Task<meta::Result<std::vector<meta::Object>>> ApiClient::ListItems(ApiRequest request) const {
  ASSIGN_OR_CO_RETURN(meta::Object list, co_await SendForObject(std::move(request)));
  co_return TakeItems(list);
}

}  // namespace apimesh::mesh
