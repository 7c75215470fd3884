#include "services/aggregator/discovery/openapi_v2.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <openssl/sha.h>

#include "lib/base/hash/hex.h"
#include "lib/base/log.h"
#include "lib/codec/codec.h"
#include "lib/codec/protobuf/openapi_protobuf.h"
#include "lib/meta/kubernetes_version.h"
#include "services/aggregator/discovery/openapi_merge.h"

namespace apimesh::aggregator {
namespace {

namespace json = meta::json;

constexpr codec::ParseLimits kLimits{.bytes = 64U << 20};

std::string KeyOf(const Routes& routes) {
  std::string key;
  for (const Delegate& delegate : routes.delegates) {
    if (delegate.kind == Delegate::Kind::kShard) continue;  // the common servers describe the same
    key += fmt::format("{} {}\n", delegate.name, delegate.openapi_version);
  }
  return key;
}

/// The order in which documents are merged: the servers of the mesh in the order of the chain, then the others by the
/// priority of their group, then by name.
std::vector<const Delegate*> InOrder(const Routes& routes) {
  std::map<std::string, int> priorities;  // by group
  for (const Delegate& delegate : routes.delegates) {
    if (!delegate.Foreign() || !delegate.description) continue;
    for (const mesh::GroupVersionPtr& gv : delegate.description->group_versions) {
      int& priority = priorities[gv->group];
      priority = std::max(priority, gv->group_priority_minimum);
    }
  }
  const auto priority_of = [&priorities](const Delegate& delegate) {
    const bool described = delegate.description && !delegate.description->group_versions.empty();
    return described ? priorities[delegate.description->group_versions.front()->group] : 0;
  };
  std::vector<const Delegate*> ordered;
  for (const Delegate& delegate : routes.delegates) {
    if (delegate.kind != Delegate::Kind::kShard) ordered.push_back(&delegate);
  }
  std::stable_sort(ordered.begin(), ordered.end(), [&priority_of](const Delegate* a, const Delegate* b) {
    if (!a->Foreign() || !b->Foreign()) return !a->Foreign() && b->Foreign();
    const int one = priority_of(*a), other = priority_of(*b);
    return one != other ? one > other : a->name < b->name;
  });
  return ordered;
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
  for (const Delegate* delegate : InOrder(*routes)) {
    mesh::Request request = like;
    const mesh::Response response = co_await delegate->client->Call(std::move(request));
    meta::Result<json::value> parsed = codec::ParseJson(response.Text(), meta::NewArena(), nullptr, kLimits);
    if (response.code == 200 && parsed && parsed->is_object()) {
      json::object& document = parsed->get_object();
      const json::value* security = meta::FindField(document, "securityDefinitions");
      if (security && !delegate->Foreign()) all.emplace("securityDefinitions", *security);
      MergeOpenApiV2(all, std::move(document));
    } else if (response.code != 404 && !delegate->Foreign()) {  // 404: no document
      complete = false;
      log::Warning("no OpenAPI v2 from {}: code {}", delegate->name, response.code);
    }
  }
  if (!complete) {
    const std::lock_guard lock(mutex_);
    if (!key_.empty()) co_return document_;  // a server of the mesh is down; its paths will be back
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
