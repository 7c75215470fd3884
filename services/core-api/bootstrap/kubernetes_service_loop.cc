#include <fmt/format.h>

#include <algorithm>

#include "lib/base/log.h"
#include "lib/codec/codec.h"
#include "lib/meta/time.h"
#include "services/core-api/bootstrap/kubernetes_service.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr std::chrono::seconds kLeaseTtl{15};
constexpr std::chrono::milliseconds kStoreCheck{3};
constexpr const char* kServicePath = "/api/v1/namespaces/default/services";
constexpr const char* kEndpointsPath = "/api/v1/namespaces/default/endpoints";
constexpr const char* kSlicesPath = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
constexpr const char* kCidrsPath = "/apis/networking.k8s.io/v1/servicecidrs";

void LogFailure(std::string_view what, const meta::ApiError& error) {
  if (!error.Is("AlreadyExists") && !error.Is("Conflict")) log::Warning("{}: {}", what, error.Message());
}

Task<> CreateIfMissing(LocalApiPtr api, std::string collection, meta::Object object) {
  const std::string path = fmt::format("{}/{}", collection, object.Name());
  const meta::Result<meta::Object> found = co_await api->Get(path);
  if (found || !found.error().Is("NotFound")) co_return;
  const meta::Result<meta::Object> created = co_await api->Create(std::move(collection), std::move(object));
  if (!created) LogFailure(path, created.error());
}

/// Writes `wanted` unless the fields that count are there already.
Task<> CreateOrUpdate(LocalApiPtr api, std::string collection, meta::Object wanted, std::vector<std::string> fields) {
  const std::string path = fmt::format("{}/{}", collection, wanted.Name());
  meta::Result<meta::Object> found = co_await api->Get(path);
  meta::Result<meta::Object> written = meta::Object();
  if (!found) {
    if (!found.error().Is("NotFound")) co_return;
    written = co_await api->Create(std::move(collection), std::move(wanted));
  } else {
    bool same = true;
    for (const std::string& field : fields) {
      const json::value* have = meta::FindField(found->Root(), field);
      const json::value* want = meta::FindField(wanted.Root(), field);
      if (have && want && *have == *want) continue;
      same = false;
      if (want) found->Root()[field] = *want;
    }
    for (const auto& [key, value] : meta::MakeObject(wanted.Metadata(), "labels")) {
      json::object& labels = meta::MakeObject(found->Metadata(), "labels");
      if (const json::value* label = labels.if_contains(key); label && *label == value) continue;
      labels[key] = value;
      same = false;
    }
    if (same) co_return;
    written = co_await api->Update(path, std::move(*found));
  }
  if (!written) LogFailure(path, written.error());
}

/// A new value each time, because an unchanged object is not written and its time would run out.
Task<meta::Result<std::optional<storage::Store::Update>>> Renew(std::string address, const meta::Object* current) {
  meta::Object lease = current ? *current : meta::Object(json::object{{"kind", "Endpoints"}, {"apiVersion", "v1"}});
  lease.SetMeta("generation", lease.Generation() + 1);
  lease.Root()["subsets"] = json::array{json::object{{"addresses", json::array{json::object{{"ip", address}}}}}};
  co_return std::optional(storage::Store::Update{std::move(lease), kLeaseTtl});
}

Task<meta::Result<std::vector<std::string>>> LiveServers(storage::StorePtr leases, std::string own) {
  const storage::Key key{own};
  const storage::Store::UpdateFn renew = [own](const meta::Object* current) { return Renew(own, current); };
  // Named, not {}: GCC 12 destroys braced arguments of an awaited call twice.
  const meta::RequestContext ctx;
  const storage::Preconditions no_preconditions;
  const storage::ListOptions all;
  const auto renewed = co_await leases->GuaranteedUpdate(ctx, key, no_preconditions, true, renew);
  if (!renewed) co_return renewed.error();
  ASSIGN_OR_CO_RETURN(const std::unique_ptr<storage::ListCursor> cursor, co_await leases->List(ctx, all));
  std::vector<std::string> addresses;
  for (std::vector<storage::EntryPtr> entries; !(entries = cursor->Next(100)).empty();) {
    for (const storage::EntryPtr& entry : entries) addresses.push_back(entry->GetKey().text);
  }
  std::sort(addresses.begin(), addresses.end());
  co_return addresses;
}

Task<> EnsureService(LocalApiPtr api, KubernetesServiceOptions options) {
  if (options.cidrs.empty()) co_return;
  if (!FirstServiceAddress(options.cidrs[0])) {
    log::Error("--service-cluster-ip-range: \"{}\" is not a CIDR", options.cidrs[0]);
    co_return;
  }
  // Its IPAddress is made by the services themselves, as for every other service.
  co_await CreateIfMissing(api, kServicePath, KubernetesService(options));
}

Task<> ReconcileEndpoints(LocalApiPtr api, KubernetesServiceOptions options) {
  if (options.endpoint_reconciler_type == "none" || options.advertise_address.empty()) co_return;
  std::vector<std::string> addresses = {options.advertise_address};
  if (options.master_leases) {
    while (!options.master_leases->Ready()) {
      if (!co_await api->Sleep(kStoreCheck)) co_return;
    }
    meta::Result<std::vector<std::string>> live = co_await LiveServers(options.master_leases, options.advertise_address);
    if (!live || live->empty()) {
      // Others may be alive: what is there must not be cut down to this one.
      log::Warning("addresses of API servers: {}", live ? "none" : live.error().Message());
      co_return;
    }
    addresses = std::move(*live);
  }
  std::vector<Task<>> tasks;
  tasks.push_back(CreateOrUpdate(api, kEndpointsPath, KubernetesEndpoints(addresses, options.secure_port), {"subsets"}));
  tasks.push_back(CreateOrUpdate(api, kSlicesPath, KubernetesEndpointSlice(addresses, options.secure_port), {"endpoints", "ports"}));
  co_await api->Together(std::move(tasks));
}

}  // namespace

Task<> ReconcileKubernetesService(LocalApiPtr api, KubernetesServiceOptions options) {
  std::vector<Task<>> tasks;
  tasks.push_back(EnsureService(api, options));
  tasks.push_back(ReconcileEndpoints(api, options));
  co_await api->Together(std::move(tasks));
}

Task<> EnsureServiceCidr(LocalApiPtr api, std::vector<std::string> cidrs) {
  if (cidrs.empty()) co_return;
  co_await CreateIfMissing(api, kCidrsPath, KubernetesServiceCidr(cidrs));
  const std::string path = fmt::format("{}/kubernetes", kCidrsPath);
  meta::Result<meta::Object> found = co_await api->Get(path);
  if (!found || !found->DeletionTimestamp().empty()) co_return;
  const json::value* owned = meta::Find(found->Root(), "spec", "cidrs");
  if (!owned || *owned != json::value(json::array(cidrs.begin(), cidrs.end()))) co_return;  // another server's range
  json::value& conditions = meta::MakeObject(found->Root(), "status")["conditions"];
  if (!conditions.is_array()) conditions.emplace_array();
  for (const json::value& condition : conditions.get_array()) {
    if (condition.is_object() && meta::FindString(condition.get_object(), "type") == "Ready") co_return;
  }
  conditions.get_array().push_back(json::object{{"type", "Ready"},
                                    {"status", "True"},
                                    {"lastTransitionTime", meta::FormatTime(Clock::System().Now())},
                                    {"reason", ""},
                                    {"message", "Kubernetes default Service CIDR is ready"}});
  const meta::Result<meta::Object> written = co_await api->Update(path + "/status", std::move(*found));
  if (!written) LogFailure(path, written.error());
}

}  // namespace apimesh::core_api
