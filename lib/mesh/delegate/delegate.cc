#include "lib/mesh/delegate/delegate.h"

#include <boost/json/serialize.hpp>

namespace apimesh::mesh {

std::string_view Request::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

Response Response::Json(int code, std::string body) {
  Response response;
  response.code = code;
  response.headers.emplace_back("content-type", "application/json");
  response.body.emplace_back(std::move(body));
  return response;
}

Task<bool> ResponseStream::WriteComplete(Response response) {
  const bool wanted = co_await WriteHead(response.code, std::move(response.headers));
  if (!wanted || response.body.empty()) co_return wanted;
  co_return co_await Write(std::move(response.body));
}

std::string Response::Text() const {
  std::string text;
  for (const SharedBytes& piece : body) text += piece.View();
  return text;
}

Response Response::Error(const meta::ApiError& error) {
  Response response = Json(error.Code(), boost::json::serialize(error.ToStatus()) + "\n");
  if (const int seconds = error.Get().retry_after_seconds; seconds > 0) {
    response.headers.emplace_back("retry-after", std::to_string(seconds));
  }
  return response;
}

}  // namespace apimesh::mesh
