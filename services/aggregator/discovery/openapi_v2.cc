#include "services/aggregator/discovery/openapi_v2.h"

#include <openssl/sha.h>

#include "lib/base/hash/hex.h"
#include "lib/base/log.h"
#include "lib/codec/protobuf/openapi_protobuf.h"
#include "lib/meta/kubernetes_version.h"

namespace apimesh::aggregator {
namespace {

namespace json = boost::json;

// Adds entries that earlier delegates do not have.
void Merge(json::object& all, const json::object& more) {
  for (const char* section : {"paths", "definitions", "securityDefinitions"}) {
    const json::value* found = more.if_contains(section);
    if (found == nullptr || !found->is_object()) continue;
    json::value& target = all[section];
    if (!target.is_object()) target.emplace_object();
    for (const auto& [key, value] : found->get_object()) {
      if (!target.get_object().contains(key)) target.get_object().emplace(key, value);
    }
  }
}

std::string KeyOf(const Routes& routes) {
  std::string key;
  for (const Delegate& delegate : routes.delegates) {
    if (delegate.kind == Delegate::Kind::kShard) continue;  // the common servers describe the same
    key += (delegate.description ? delegate.description->etag : "-") + "|";
  }
  return key;
}

std::string HashOf(std::string_view text) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return UpperHex(digest);
}

}  // namespace

Task<OpenApiV2::Document> OpenApiV2::Get(RoutesPtr routes, mesh::Request like) {
  const std::string key = KeyOf(*routes);
  {
    const std::lock_guard lock(mutex_);
    if (key == key_) co_return document_;
  }
  json::object all;
  all["swagger"] = "2.0";
  json::object& info = all["info"].emplace_object();
  info["title"] = "Kubernetes";
  info["version"] = meta::kKubernetesVersion;
  all["paths"].emplace_object();
  all["definitions"].emplace_object();
  bool complete = true;
  std::erase_if(like.headers, [](const auto& header) { return header.first == "accept"; });
  like.headers.emplace_back("accept", "application/json");
  for (const Delegate& delegate : routes->delegates) {
    if (delegate.kind == Delegate::Kind::kShard) continue;
    mesh::Request request = like;
    const mesh::Response response = co_await delegate.client->Call(std::move(request));
    boost::system::error_code error;
    const json::value parsed = json::parse(response.Text(), error);
    if (response.code == 200 && !error && parsed.is_object()) {
      Merge(all, parsed.get_object());
    } else if (response.code != 404 && !delegate.Foreign()) {  // 404: no document
      complete = false;
      log::Warning("no OpenAPI v2 from {}: code {}", delegate.name, response.code);
    }
  }
  Document document;
  document.json = SharedBytes(json::serialize(all));
  document.protobuf = SharedBytes(codec::WriteOpenApiV2Protobuf(all));
  document.etag = '"' + HashOf(document.json.View()) + '"';
  if (complete) {
    const std::lock_guard lock(mutex_);
    key_ = key;
    document_ = document;
  }
  co_return document;
}

}  // namespace apimesh::aggregator
