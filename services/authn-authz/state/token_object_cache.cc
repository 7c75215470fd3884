#include "services/authn-authz/state/token_object_cache.h"

#include "lib/base/text/base64.h"
#include "lib/mesh/api_client.h"
#include "lib/meta/object.h"
#include "lib/meta/time.h"

namespace apimesh::authn_authz {
namespace {

// Longer than any cache keeps an answer: 10 s here and 10 s more at the edge.
constexpr auto kRememberUse = std::chrono::seconds(60);
constexpr auto kGetTimeout = std::chrono::seconds(5);

constexpr std::string_view kPlurals[] = {"serviceaccounts", "secrets", "pods", "nodes"};

/// Ignores the label with the date of the last use, which this process changes itself.
bool SameForTokens(const TokenObject& a, const TokenObject& b) {
  return a.uid == b.uid && a.data == b.data && a.type == b.type && a.marked_invalid == b.marked_invalid;
}

class TokenObjectSink final : public mesh::ObjectSink {
 public:
  TokenObjectSink(std::shared_ptr<TokenObjectCache> cache, TokenObjectKind kind, std::string secret_type)
      : cache_(std::move(cache)), kind_(kind), secret_type_(std::move(secret_type)) {}

  std::vector<std::string> Reads() const override {
    if (kind_ == TokenObjectKind::kSecret) return {};
    return {"metadata.uid", "metadata.deletionTimestamp"};
  }
  void Set(const boost::json::object& object) override {
    cache_->Set(kind_, std::string(meta::FindString(object, "metadata", "namespace")),
                std::string(meta::FindString(object, "metadata", "name")), ParseTokenObject(object));
  }
  void Remove(const std::string& ns, const std::string& name) override { cache_->Remove(kind_, ns, name); }
  std::vector<std::pair<std::string, std::string>> Names() const override { return cache_->Names(kind_, secret_type_); }

 private:
  std::shared_ptr<TokenObjectCache> cache_;
  const TokenObjectKind kind_;
  const std::string secret_type_;
};

}  // namespace

TokenObject ParseTokenObject(const boost::json::object& object) {
  TokenObject out;
  out.uid = meta::FindString(object, "metadata", "uid");
  if (const std::string_view time = meta::FindString(object, "metadata", "deletionTimestamp"); !time.empty()) {
    out.deleted_at = meta::ParseTime(time).value_or(WallTime::min());
  }
  if (meta::FindString(object, "kind") != "Secret" && !meta::FindField(object, "type")) return out;
  out.type = meta::FindString(object, "type");
  out.marked_invalid =
      !meta::FindString(object, "metadata", "labels", "kubernetes.io/legacy-token-invalid-since").empty();
  out.last_used = meta::FindString(object, "metadata", "labels", "kubernetes.io/legacy-token-last-used");
  if (const boost::json::value* data = meta::FindField(object, "data"); data && data->is_object()) {
    for (const auto& [key, value] : data->get_object()) {
      if (!value.is_string()) continue;
      std::string bytes;
      if (!DecodeBase64(value.get_string(), bytes)) out.data[std::string(key)] = std::move(bytes);
    }
  }
  return out;
}

TokenObjectCache::TokenObjectCache(std::shared_ptr<mesh::DelegateClient> core_api, std::function<void()> revoked,
                                   const Clock& clock)
    : core_api_(std::move(core_api)), revoked_(std::move(revoked)), clock_(clock) {}

std::optional<TokenObject> TokenObjectCache::GetCached(TokenObjectKind kind, const std::string& ns,
                                                       const std::string& name) const {
  const std::shared_lock lock(mutex_);
  const auto& objects = objects_[static_cast<std::size_t>(kind)];
  const auto it = objects.find({ns, name});
  return it == objects.end() ? std::nullopt : std::optional(it->second);
}

Task<meta::Result<TokenObject>> TokenObjectCache::Get(TokenObjectKind kind, std::string ns, std::string name) {
  if (auto object = GetCached(kind, ns, name)) co_return std::move(*object);
  const meta::GroupResource resource{"", std::string(kPlurals[static_cast<std::size_t>(kind)])};
  // Names come from a token and must not be able to change the path.
  const auto plain = [](std::string_view text) {
    return text != "." && text != ".." && text.find_first_of("/%?#") == text.npos;
  };
  if (!core_api_ || name.empty() || !plain(name) || !plain(ns) || (ns.empty() && kind != TokenObjectKind::kNode)) {
    co_return meta::NotFound(resource, name);
  }
  mesh::ApiRequest request;
  request.path = ns.empty() ? fmt::format("/api/v1/{}/{}", resource.resource, name)
                            : fmt::format("/api/v1/namespaces/{}/{}/{}", ns, resource.resource, name);
  request.user_agent = kUserAgent;
  request.deadline = clock_.Steady() + kGetTimeout;
  const mesh::ApiClient api(core_api_);
  const mesh::Response response = co_await api.Send(std::move(request));
  if (response.code == 404) co_return meta::NotFound(resource, name);
  if (response.code != 200) co_return meta::ServiceUnavailable(fmt::format("core-api answered {}", response.code));
  const meta::Result<meta::Object> object = mesh::ReadObject(response, "the request for an object of a token");
  if (!object) co_return object.error();
  co_return ParseTokenObject(object->Root());
}

void TokenObjectCache::NoteUse(const std::string& uid) {
  const SteadyTime now = clock_.Steady();
  const std::lock_guard lock(uses_mutex_);
  if (uses_.size() >= prune_uses_at_) {
    std::erase_if(uses_, [&](const auto& use) { return use.second + kRememberUse < now; });
    // Twice the number of entries in use, so that pruning costs little per new entry.
    prune_uses_at_ = std::max(kPruneUsesAt, 2 * uses_.size());
  }
  uses_[uid] = now;
}

void TokenObjectCache::NoteLegacyToken(const std::string& ns, const std::string& name, const TokenObject& secret) {
  if (legacy_uses_) legacy_uses_->Note(ns, name, secret);
}

bool TokenObjectCache::WasUsed(const std::string& uid) const {
  const std::lock_guard lock(uses_mutex_);
  const auto it = uses_.find(uid);
  return it != uses_.end() && it->second + kRememberUse >= clock_.Steady();
}

void TokenObjectCache::Set(TokenObjectKind kind, const std::string& ns, const std::string& name, TokenObject object) {
  std::string changed_uid;
  {
    const std::unique_lock lock(mutex_);
    TokenObject& stored = objects_[static_cast<std::size_t>(kind)][{ns, name}];
    if (!stored.uid.empty() && !SameForTokens(stored, object)) changed_uid = stored.uid;
    stored = std::move(object);
  }
  if (!changed_uid.empty() && WasUsed(changed_uid)) revoked_();
}

void TokenObjectCache::Remove(TokenObjectKind kind, const std::string& ns, const std::string& name) {
  std::string uid;
  {
    const std::unique_lock lock(mutex_);
    auto& objects = objects_[static_cast<std::size_t>(kind)];
    const auto it = objects.find({ns, name});
    if (it == objects.end()) return;
    uid = std::move(it->second.uid);
    objects.erase(it);
  }
  if (WasUsed(uid)) revoked_();
}

std::vector<std::pair<std::string, std::string>> TokenObjectCache::Names(TokenObjectKind kind,
                                                                         const std::string& secret_type) const {
  const std::shared_lock lock(mutex_);
  std::vector<std::pair<std::string, std::string>> names;
  for (const auto& [key, object] : objects_[static_cast<std::size_t>(kind)]) {
    if (object.type == secret_type) names.push_back(key);
  }
  return names;
}

std::unique_ptr<mesh::ObjectSink> TokenObjectCache::NewSink(TokenObjectKind kind, std::string secret_type) {
  return std::make_unique<TokenObjectSink>(shared_from_this(), kind, std::move(secret_type));
}

}  // namespace apimesh::authn_authz
