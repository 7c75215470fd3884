#include <algorithm>

#include <fmt/format.h>

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
  if (!error.Is(meta::Reason::kAlreadyExists) && !error.Is(meta::Reason::kConflict))
    log::Warning("{}: {}", what, error.Message());
}

Task<> CreateIfMissing(LocalApiPtr api, std::string collection, meta::Object object) {
  const std::string path = fmt::format("{}/{}", collection, object.Name());
  const meta::Result<meta::Object> found = co_await api->Get(path);
  if (found || !found.error().Is(meta::Reason::kNotFound)) co_return;
  const meta::Result<meta::Object> created = co_await api->Create(std::move(collection), std::move(object));
  if (!created) LogFailure(path, created.error());
}

/// Creates `wanted`, or updates the existing object if one of `fields` or one of the labels of `wanted` differs.
Task<> CreateOrUpdate(LocalApiPtr api, std::string collection, meta::Object wanted, std::vector<std::string> fields) {
  const std::string path = fmt::format("{}/{}", collection, wanted.Name());
  meta::Result<meta::Object> found = co_await api->Get(path);
  meta::Result<meta::Object> written = meta::Object();
  if (!found) {
    if (!found.error().Is(meta::Reason::kNotFound)) co_return;
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

/// Increments the generation at each renewal: an unchanged object is not written, so its lease would expire.
Task<meta::Result<std::optional<storage::Store::Update>>> Renew(std::string address, const meta::Object* current) {
  meta::Object lease = current ? *current : meta::Object(json::object{{"kind", "Endpoints"}, {"apiVersion", "v1"}});
  lease.SetMeta("generation", lease.Generation() + 1);
  lease.Root()["subsets"] = json::array{json::object{{"addresses", json::array{json::object{{"ip", address}}}}}};
  co_return std::optional(storage::Store::Update{std::move(lease), kLeaseTtl});
}

Task<meta::Result<std::vector<std::string>>> LeasedServers(storage::StorePtr leases) {
  const meta::RequestContext ctx;
  const storage::ListOptions all;
  ASSIGN_OR_CO_RETURN(const std::unique_ptr<storage::ListCursor> cursor, co_await leases->List(ctx, all));
  std::vector<std::string> addresses;
  for (std::vector<storage::EntryPtr> entries; !(entries = cursor->Next(100)).empty();) {
    for (const storage::EntryPtr& entry : entries) addresses.push_back(entry->GetKey().text);
  }
  std::sort(addresses.begin(), addresses.end());
  co_return addresses;
}

/// Renews the lease of this server and returns the addresses of all servers with a lease.
Task<meta::Result<std::vector<std::string>>> LiveServers(storage::StorePtr leases, std::string own) {
  const storage::Key key{own};
  const storage::Store::UpdateFn renew = [own](const meta::Object* current) { return Renew(own, current); };
  // These are named variables, not `{}`, because GCC 12 destroys braced arguments of an awaited call twice.
  const meta::RequestContext ctx;
  const storage::Preconditions no_preconditions;
  const auto renewed = co_await leases->GuaranteedUpdate(ctx, key, no_preconditions, true, renew);
  if (!renewed) co_return renewed.error();
  co_return co_await LeasedServers(std::move(leases));
}

/// Returns the addresses in the Endpoints "kubernetes" if they have the format that this server writes; none otherwise.
Task<std::vector<std::string>> PublishedAddresses(LocalApiPtr api) {
  const meta::Result<meta::Object> endpoints = co_await api->Get(fmt::format("{}/kubernetes", kEndpointsPath));
  std::vector<std::string> addresses;
  if (!endpoints) co_return addresses;
  const json::value* subsets = meta::FindField(endpoints->Root(), "subsets");
  if (!subsets || !subsets->is_array() || subsets->get_array().size() != 1) co_return addresses;
  const json::value& subset = subsets->get_array().front();
  const json::value* list = subset.is_object() ? meta::FindField(subset.get_object(), "addresses") : nullptr;
  if (!list || !list->is_array()) co_return addresses;
  for (const json::value& address : list->get_array()) {
    if (address.is_object()) addresses.emplace_back(meta::FindString(address.get_object(), "ip"));
  }
  co_return addresses;
}

Task<> Publish(LocalApiPtr api, std::vector<std::string> addresses, int port) {
  std::vector<Task<>> tasks;
  std::vector<std::string> of_endpoints{"subsets"}, of_slice{"endpoints", "ports"};
  tasks.push_back(CreateOrUpdate(api, kEndpointsPath, KubernetesEndpoints(addresses, port), std::move(of_endpoints)));
  tasks.push_back(CreateOrUpdate(api, kSlicesPath, KubernetesEndpointSlice(addresses, port), std::move(of_slice)));
  co_await api->Together(std::move(tasks));
}

Task<meta::Result<>> Accepted() { co_return meta::Result<>(); }

/// Makes the type and the ports of the existing Service equal to those of `wanted`.
Task<> CorrectService(LocalApiPtr api, meta::Object wanted) {
  const std::string path = fmt::format("{}/kubernetes", kServicePath);
  meta::Result<meta::Object> found = co_await api->Get(path);
  if (!found) co_return;
  json::object& spec = meta::MakeObject(found->Root(), "spec");
  const json::object& right = meta::MakeObject(wanted.Root(), "spec");
  if (spec["type"] == right.at("type") && spec["ports"] == right.at("ports")) co_return;
  spec["type"] = right.at("type");
  spec["ports"] = right.at("ports");
  log::Warning("The Service default/kubernetes has another type or other ports; correcting it");
  const meta::Result<meta::Object> written = co_await api->Update(path, std::move(*found));
  if (!written) LogFailure(path, written.error());
}

Task<> EnsureService(LocalApiPtr api, KubernetesServiceOptions options, bool correct) {
  if (options.cidrs.empty()) co_return;
  if (!FirstServiceAddress(options.cidrs[0])) {
    log::Error("--service-cluster-ip-range: \"{}\" is not a CIDR", options.cidrs[0]);
    co_return;
  }
  // The creation of the Service also allocates its IPAddress, as for every other Service.
  co_await CreateIfMissing(api, kServicePath, KubernetesService(options));
  if (correct) co_await CorrectService(api, KubernetesService(options));
}

Task<> ReconcileEndpoints(LocalApiPtr api, KubernetesServiceOptions options) {
  if (options.endpoint_reconciler_type == "none" || options.advertise_address.empty() || *options.stopping) co_return;
  std::vector<std::string> addresses = {options.advertise_address};
  if (options.master_leases) {
    while (!options.master_leases->Ready()) {
      if (!co_await api->Sleep(kStoreCheck)) co_return;
    }
    meta::Result<std::vector<std::string>> live =
        co_await LiveServers(options.master_leases, options.advertise_address);
    if (!live || live->empty()) {
      // Other servers may be alive, so the existing endpoints must not be reduced to this server.
      log::Warning("addresses of API servers: {}", live ? "none" : live.error().Message());
      co_return;
    }
    addresses = std::move(*live);
  } else {
    std::vector<std::string> present = co_await PublishedAddresses(api);
    addresses = MasterCountAddresses(std::move(present), options.advertise_address, options.apiserver_count);
  }
  co_await Publish(api, std::move(addresses), options.secure_port);
}

}  // namespace

Task<> ReconcileKubernetesService(LocalApiPtr api, KubernetesServiceOptions options, bool correct) {
  std::vector<Task<>> tasks;
  tasks.push_back(EnsureService(api, options, correct));
  tasks.push_back(ReconcileEndpoints(api, options));
  co_await api->Together(std::move(tasks));
}

Task<> RemoveOwnEndpoint(LocalApiPtr api, KubernetesServiceOptions options) {
  *options.stopping = true;
  if (options.endpoint_reconciler_type == "none" || options.advertise_address.empty()) co_return;
  std::vector<std::string> others;
  if (options.master_leases) {
    const storage::Key key{options.advertise_address};
    const meta::RequestContext ctx;
    const storage::Preconditions no_preconditions;
    const storage::Store::ValidateFn accept = [](const meta::Object&) { return Accepted(); };
    const auto removed = co_await options.master_leases->Delete(ctx, key, no_preconditions, accept);
    if (!removed && !removed.error().Is(meta::Reason::kNotFound)) LogFailure("lease of this server", removed.error());
    meta::Result<std::vector<std::string>> leased = co_await LeasedServers(options.master_leases);
    if (leased) others = std::move(*leased);
  } else {
    others = co_await PublishedAddresses(api);
  }
  std::erase(others, options.advertise_address);
  if (others.empty() && options.master_leases) co_return;  // clients keep an address that may return
  co_await Publish(api, std::move(others), options.secure_port);
}

Task<> EnsureServiceCidr(LocalApiPtr api, std::vector<std::string> cidrs) {
  if (cidrs.empty()) co_return;
  co_await CreateIfMissing(api, kCidrsPath, KubernetesServiceCidr(cidrs));
  const std::string path = fmt::format("{}/kubernetes", kCidrsPath);
  meta::Result<meta::Object> found = co_await api->Get(path);
  if (!found || !found->DeletionTimestamp().empty()) co_return;
  const json::value* owned = meta::Find(found->Root(), "spec", "cidrs");
  if (!owned || *owned != json::value(json::array(cidrs.begin(), cidrs.end())))
    co_return;  // the ServiceCIDR has the range of another server
  json::value& conditions = meta::MakeObject(found->Root(), "status")["conditions"];
  if (!conditions.is_array()) conditions.emplace_array();
  for (const json::value& condition : conditions.get_array()) {
    if (condition.is_object() && meta::FindString(condition.get_object(), "type") == "Ready") co_return;
  }
  conditions.get_array().push_back(json::object{{"type", "Ready"},
                                                {"status", "True"},
                                                {"lastTransitionTime", meta::FormatTime(api->GetClock().Now())},
                                                {"reason", ""},
                                                {"message", "Kubernetes default Service CIDR is ready"}});
  const meta::Result<meta::Object> written = co_await api->Update(path + "/status", std::move(*found));
  if (!written) LogFailure(path, written.error());
}

}  // namespace apimesh::core_api
