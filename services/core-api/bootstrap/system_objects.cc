#include "services/core-api/bootstrap/system_objects.h"

#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <openssl/sha.h>

#include "lib/base/clock.h"
#include "lib/base/file.h"
#include "lib/base/log.h"
#include "lib/codec/codec.h"
#include "lib/meta/time.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr const char* kNamespaces[] = {"default", "kube-system", "kube-public", "kube-node-lease"};
constexpr const char* kConfigMaps = "/api/v1/namespaces/kube-system/configmaps";
constexpr const char* kIdentityLabel = "apiserver.kubernetes.io/identity";
constexpr const char* kLeases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";

void LogFailure(std::string_view what, const meta::ApiError& error) {
  if (!error.Is(meta::Reason::kAlreadyExists) && !error.Is(meta::Reason::kConflict))
    log::Warning("{}: {}", what, error.Message());
}

Task<> EnsureNamespace(LocalApiPtr api, std::string name) {
  const meta::Result<meta::Object> found = co_await api->Get("/api/v1/namespaces/" + name);
  if (found || !found.error().Is(meta::Reason::kNotFound)) co_return;
  meta::Object object(json::object{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}});
  const meta::Result<meta::Object> created = co_await api->Create("/api/v1/namespaces", std::move(object));
  if (!created) LogFailure("namespace " + name, created.error());
}

std::string JsonList(const std::vector<std::string>& values) {
  return codec::WriteJson(json::value(json::array(values.begin(), values.end())));
}

std::map<std::string, std::string> OwnAuthenticationInfo(const Flags& flags) {
  std::map<std::string, std::string> data;
  if (!flags.client_ca_file.empty()) data["client-ca-file"] = ReadFile(flags.client_ca_file).value_or("");
  const std::string proxy_ca =
      flags.requestheader_client_ca_file.empty() ? "" : ReadFile(flags.requestheader_client_ca_file).value_or("");
  if (proxy_ca.empty()) return data;
  data["requestheader-client-ca-file"] = proxy_ca;
  data["requestheader-username-headers"] = JsonList(flags.requestheader_username_headers);
  if (!flags.requestheader_uid_headers.empty())
    data["requestheader-uid-headers"] = JsonList(flags.requestheader_uid_headers);
  data["requestheader-group-headers"] = JsonList(flags.requestheader_group_headers);
  data["requestheader-extra-headers-prefix"] = JsonList(flags.requestheader_extra_headers_prefix);
  data["requestheader-allowed-names"] = JsonList(flags.requestheader_allowed_names);
  return data;
}

std::vector<std::string> Certificates(std::string_view bundle) {
  constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----", kEnd = "-----END CERTIFICATE-----";
  std::vector<std::string> found;
  for (;;) {
    const std::size_t begin = bundle.find(kBegin);
    const std::size_t end = bundle.find(kEnd);
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return found;
    found.emplace_back(bundle.substr(begin, end + kEnd.size() - begin));
    bundle.remove_prefix(end + kEnd.size());
  }
}

std::string MergeBundles(const std::string& present, const std::string& mine) {
  std::vector<std::string> all = Certificates(present);
  for (std::string& one : Certificates(mine)) {
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(std::move(one));
  }
  std::string text;
  for (const std::string& one : all) text += one + "\n";
  return text;
}

std::string MergeLists(const std::string& present, const std::string& mine) {
  meta::Result<json::value> owned = codec::ParseJson(present, {});
  const meta::Result<json::value> more = codec::ParseJson(mine, {});
  if (!owned || !owned->is_array() || !more || !more->is_array()) return mine;
  for (const json::value& item : more->get_array()) {
    json::array& list = owned->get_array();
    if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
  }
  return codec::WriteJson(*owned);
}

meta::Object ConfigMap(std::string_view name) {
  return meta::Object(json::object{
      {"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}, {"namespace", "kube-system"}}}});
}

std::map<std::string, std::string> DataOf(const meta::Object& config_map) {
  std::map<std::string, std::string> data;
  if (const json::value* found = meta::FindField(config_map.Root(), "data"); found && found->is_object()) {
    for (const auto& [key, value] : found->get_object()) {
      if (value.is_string()) data[std::string(key)] = std::string(value.get_string());
    }
  }
  return data;
}

json::object ToJson(const std::map<std::string, std::string>& data) {
  json::object object;
  for (const auto& [key, value] : data) object[key] = value;
  return object;
}

/// A lease without a duration or a time of renewal counts as expired.
bool IsExpired(const meta::Object& lease, WallTime now) {
  const json::value* seconds = meta::Find(lease.Root(), "spec", "leaseDurationSeconds");
  const std::optional<WallTime> renewed = meta::ParseTime(meta::FindString(lease.Root(), "spec", "renewTime"));
  if (!seconds || !seconds->is_int64() || !renewed) return true;
  return *renewed + std::chrono::seconds(seconds->get_int64()) < now;
}

}  // namespace

Task<> EnsureSystemNamespaces(LocalApiPtr api) {
  std::vector<Task<>> tasks;
  for (const char* name : kNamespaces) tasks.push_back(EnsureNamespace(api, name));
  co_await api->Together(std::move(tasks));
}

std::map<std::string, std::string> MergeAuthenticationInfo(std::map<std::string, std::string> present,
                                                           const std::map<std::string, std::string>& mine) {
  for (const auto& [key, value] : mine) {
    std::string& target = present[key];
    if (target.empty()) {
      target = value;
    } else {
      target = key.ends_with("ca-file") ? MergeBundles(target, value) : MergeLists(target, value);
    }
  }
  return present;
}

Task<> EnsureAuthenticationInfo(LocalApiPtr api, Flags flags) {
  const std::string path = fmt::format("{}/extension-apiserver-authentication", kConfigMaps);
  meta::Result<meta::Object> found = co_await api->Get(path);
  if (!found && !found.error().Is(meta::Reason::kNotFound)) co_return;
  meta::Object object = found ? *found : ConfigMap("extension-apiserver-authentication");
  const std::map<std::string, std::string> present = DataOf(object);
  const std::map<std::string, std::string> merged = MergeAuthenticationInfo(present, OwnAuthenticationInfo(flags));
  if (merged == present) co_return;  // without a CA there is nothing to publish
  object.Root()["data"] = ToJson(merged);
  meta::Result<meta::Object> written = meta::Object();
  if (found) {
    written = co_await api->Update(path, std::move(object));
  } else {
    written = co_await api->Create(kConfigMaps, std::move(object));
  }
  if (!written) LogFailure(path, written.error());
}

Task<> EnsureLegacyTokenTracking(LocalApiPtr api) {
  constexpr const char* kName = "kube-apiserver-legacy-service-account-token-tracking";
  const std::string path = fmt::format("{}/{}", kConfigMaps, kName);
  const std::string today = meta::FormatTime(api->GetClock().Now()).substr(0, 10);
  meta::Result<meta::Object> found = co_await api->Get(path);
  meta::Result<meta::Object> written = meta::Object();
  if (!found) {
    if (!found.error().Is(meta::Reason::kNotFound)) co_return;
    meta::Object object = ConfigMap(kName);
    object.Root()["data"] = {{"since", today}};
    written = co_await api->Create(kConfigMaps, std::move(object));
  } else {
    if (meta::ParseTime(fmt::format("{}T00:00:00Z", meta::FindString(found->Root(), "data", "since")))) co_return;
    meta::MakeObject(found->Root(), "data")["since"] = today;
    written = co_await api->Update(path, std::move(*found));
  }
  if (!written) LogFailure(path, written.error());
}

std::string IdentityLeaseName(std::string_view hostname) {
  constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(hostname.data()), hostname.size(), digest);
  std::string text = "apiserver-";
  unsigned bits = 0, pending = 0;
  for (int i = 0; i < 16; ++i) {
    pending = (pending << 8) | digest[i];
    for (bits += 8; bits >= 5; bits -= 5) text += kAlphabet[(pending >> (bits - 5)) & 31];
  }
  if (bits > 0) text += kAlphabet[(pending << (5 - bits)) & 31];
  return text;
}

Task<> CollectIdentityLeases(LocalApiPtr api) {
  const meta::Result<std::vector<meta::Object>> leases = co_await api->List(kLeases);
  if (!leases) co_return;
  for (const meta::Object& lease : *leases) {
    if (meta::FindString(lease.Metadata(), "labels", kIdentityLabel) != "kube-apiserver") continue;
    if (!IsExpired(lease, api->GetClock().Now())) continue;
    // The lease may have been renewed since it was listed.
    const std::string path = fmt::format("{}/{}", kLeases, lease.Name());
    const meta::Result<meta::Object> now = co_await api->Get(path);
    if (!now || !IsExpired(*now, api->GetClock().Now())) continue;
    log::Info("deleting the expired identity lease {}", lease.Name());
    const meta::Result<> deleted = co_await api->Delete(path);
    if (!deleted && !deleted.error().Is(meta::Reason::kNotFound)) LogFailure(path, deleted.error());
  }
}

Task<> RenewIdentityLease(LocalApiPtr api, std::string hostname, std::string holder) {
  const std::string name = IdentityLeaseName(hostname);
  const std::string path = fmt::format("{}/{}", kLeases, name);
  meta::Result<meta::Object> found = co_await api->Get(path);
  if (!found && !found.error().Is(meta::Reason::kNotFound)) co_return;
  meta::Object lease = found ? std::move(*found)
                             : meta::Object(json::object{{"apiVersion", "coordination.k8s.io/v1"},
                                                         {"kind", "Lease"},
                                                         {"metadata", {{"name", name}, {"namespace", "kube-system"}}}});
  json::object& labels = meta::MakeObject(lease.Metadata(), "labels");
  labels[kIdentityLabel] = "kube-apiserver";
  labels["kubernetes.io/hostname"] = hostname;
  json::object& spec = meta::MakeObject(lease.Root(), "spec");
  spec["holderIdentity"] = holder;
  spec["leaseDurationSeconds"] = 3600;
  spec["renewTime"] = meta::FormatMicroTime(api->GetClock().Now());
  meta::Result<meta::Object> written = meta::Object();
  if (found) {
    written = co_await api->Update(path, std::move(lease));
  } else {
    written = co_await api->Create(kLeases, std::move(lease));
  }
  if (!written) LogFailure(path, written.error());
}

}  // namespace apimesh::core_api
