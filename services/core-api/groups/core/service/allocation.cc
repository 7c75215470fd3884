#include "services/core-api/groups/core/service/allocation.h"

#include <fmt/format.h>

#include <set>

#include "lib/codec/base64.h"
#include "lib/codec/codec.h"
#include "lib/meta/time.h"
#include "lib/meta/uuid.h"
#include "lib/schema/builtin.h"
#include "services/core-api/groups/check.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/core/service/fields.h"
#include "services/core-api/groups/core/service/rules.h"
#include "services/core-api/groups/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;
using Store = storage::Store;

const meta::Gvk kRangeKind{"", "v1", "RangeAllocation"};
constexpr const char* kRangeName = "servicenodeports";

meta::ApiError InvalidService(const meta::Object& service, const meta::FieldErrors& errors) {
  return meta::Invalid(meta::GroupKind{"", "Service"}, service.Name(), errors);
}

meta::Object AddressObject(std::string_view ip, std::string_view family, const meta::Object& service) {
  json::object root;
  root["kind"] = "IPAddress";
  root["apiVersion"] = "networking.k8s.io/v1";
  root["metadata"] = {{"name", json::string(ip)},
                      {"uid", meta::NewUuid()},
                      {"creationTimestamp", meta::FormatTime(Clock::System().Now())},
                      {"labels", {{"ipaddress.kubernetes.io/ip-family", json::string(family)}, {"ipaddress.kubernetes.io/managed-by", "ipallocator.k8s.io"}}}};
  root["spec"] = {{"parentRef",
                   {{"resource", "services"}, {"namespace", json::string(service.Namespace())}, {"name", json::string(service.Name())}}}};
  return meta::Object(std::move(root));
}

/// What one write of the ports does: these are given back, these are wanted, and so many of any number.
struct PortChange {
  PortRange range;
  std::vector<std::int64_t> release;
  std::vector<std::int64_t> wanted;
  std::size_t any = 0;
  // Results.
  std::optional<std::int64_t> conflict;
  bool full = false;
  std::vector<std::int64_t> given;
};

/// Runs again from the start after a lost race.
meta::Result<std::optional<Store::Update>> ApplyPorts(const std::shared_ptr<PortChange>& change, const meta::Object* current) {
  std::string bytes;
  if (current) codec::DecodeBase64(meta::FindString(current->Root(), "data"), bytes);
  PortBitmap bitmap(change->range, std::move(bytes));
  change->conflict.reset();
  change->full = false;
  change->given.clear();
  for (const std::int64_t port : change->release) bitmap.Set(port, false);
  for (const std::int64_t port : change->wanted) {
    if (bitmap.Taken(port)) {
      change->conflict = port;
      return std::optional<Store::Update>();
    }
    bitmap.Set(port, true);
  }
  for (std::size_t i = 0; i < change->any; ++i) {
    const std::optional<std::int64_t> port = bitmap.TakeAny(meta::SecureRandomBits);
    if (!port) {
      change->full = true;
      return std::optional<Store::Update>();
    }
    change->given.push_back(*port);
  }
  json::object root;
  if (current) root = current->Root();
  root["kind"] = kRangeKind.kind;
  root["apiVersion"] = kRangeKind.ApiVersion();
  if (!current) root["metadata"] = {{"creationTimestamp", nullptr}};
  root["range"] = change->range.ToString();
  root["data"] = codec::EncodeBase64(bitmap.Bytes());
  return std::optional<Store::Update>(Store::Update{meta::Object(std::move(root)), std::chrono::seconds(0)});
}

Task<meta::Result<std::optional<Store::Update>>> ApplyPortsTask(std::shared_ptr<PortChange> change, const meta::Object* current) {
  co_return ApplyPorts(change, current);
}

std::vector<std::int64_t> NodePortsOf(const meta::Object& service) {
  std::set<std::int64_t> ports;
  for (const json::object& port : Objects(meta::FindField(ServiceSpec(service), "ports"))) ports.insert(NumberAt(port, "nodePort"));
  ports.insert(NumberAt(ServiceSpec(service), "healthCheckNodePort"));
  ports.erase(0);
  return {ports.begin(), ports.end()};
}

class ServiceHooks final : public registry::Hooks {
 public:
  explicit ServiceHooks(AllocationOptions options) : options_(std::move(options)) {
    for (const IpRange& range : options_.cidrs) families_.emplace_back(range.Family());
  }

  Task<meta::Result<>> BeginCreate(meta::RequestContext ctx, meta::Object& service) override {
    SyncClusterIps(service, nullptr);
    CO_RETURN_IF_ERROR(Prepare(service, nullptr));
    const std::vector<std::string> no_addresses;
    CO_RETURN_IF_ERROR(co_await TakeAddresses(ctx, service, no_addresses));
    const std::vector<std::int64_t> no_ports;
    const meta::Result<> ports = co_await TakePorts(ctx, service, no_ports);
    if (!ports) {
      std::vector<std::string> taken = ClusterIps(service);
      co_await ReleaseAddresses(ctx, std::move(taken));
    }
    co_return ports;
  }

  Task<meta::Result<>> BeginUpdate(meta::RequestContext ctx, meta::Object& service, const meta::Object& old) override {
    SyncClusterIps(service, &old);
    KeepAllocated(service, old);
    // A change of type is settled here as well, so that nothing is given out which the strategy then takes away.
    DropTypeDependent(service, old);
    CO_RETURN_IF_ERROR(Prepare(service, &old));
    std::vector<std::string> addresses = ClusterIps(old);
    CO_RETURN_IF_ERROR(co_await TakeAddresses(ctx, service, std::move(addresses)));
    std::vector<std::int64_t> owned = NodePortsOf(old);
    const meta::Result<> ports = co_await TakePorts(ctx, service, std::move(owned));
    if (!ports) co_await GiveBack(ctx, service, old);
    co_return ports;
  }

  Task<> GiveBack(meta::RequestContext ctx, const meta::Object& loser, const meta::Object& winner) override {
    std::vector<std::string> ips = ClusterIps(loser);
    std::vector<std::string> kept = ClusterIps(winner);
    std::sort(kept.begin(), kept.end());
    std::erase_if(ips, [&](const std::string& ip) { return std::binary_search(kept.begin(), kept.end(), ip); });
    std::vector<std::int64_t> ports = NodePortsOf(loser);
    const std::vector<std::int64_t> kept_ports = NodePortsOf(winner);
    std::erase_if(ports, [&](std::int64_t port) { return std::binary_search(kept_ports.begin(), kept_ports.end(), port); });
    co_await ReleaseAddresses(ctx, std::move(ips));
    co_await ReleasePorts(ctx, std::move(ports));
  }

  Task<> AbandonCreate(meta::RequestContext ctx, const meta::Object& service) override { return Release(ctx, service); }
  Task<> AfterDelete(meta::RequestContext ctx, const meta::Object& service) override { return Release(ctx, service); }

 private:
  meta::Result<> Prepare(meta::Object& service, const meta::Object* old) const {
    if (const meta::FieldErrors errors = ValidateClusterIps(service); !errors.empty()) return InvalidService(service, errors);
    if (const meta::FieldErrors errors = InitFamilies(service, old, families_); !errors.empty()) return InvalidService(service, errors);
    return {};
  }

  const IpRange& RangeOf(std::string_view family) const {
    for (const IpRange& range : options_.cidrs) {
      if (range.Family() == family) return range;
    }
    return options_.cidrs.front();
  }

  /// One address for every family, but those that are there already: `owned` are the service's own.
  Task<meta::Result<>> TakeAddresses(meta::RequestContext ctx, meta::Object& service, std::vector<std::string> owned) {
    if (!NeedsClusterIp(service) || IsHeadless(service)) co_return meta::Result<>();
    std::vector<std::string> ips = ClusterIps(service), families;
    if (const json::value* list = meta::FindField(ServiceSpec(service), "ipFamilies"); list && list->is_array()) {
      for (const json::value& family : list->get_array()) families.emplace_back(family.as_string());
    }
    std::vector<std::string> taken;
    for (std::size_t i = 0; i < families.size(); ++i) {
      const bool asked = i < ips.size();
      if (asked && std::find(owned.begin(), owned.end(), ips[i]) != owned.end()) continue;
      const std::string wish = asked ? ips[i] : "";
      const meta::Result<std::string> ip = co_await TakeAddress(ctx, service, families[i], wish);
      if (!ip) {
        co_await ReleaseAddresses(ctx, taken);
        co_return ip.error();
      }
      taken.push_back(*ip);
      if (!asked) ips.push_back(*ip);
    }
    SetClusterIps(service, ips);
    co_return meta::Result<>();
  }

  meta::ApiError NoAddress(const meta::Object& service, const std::string& wish, std::string_view why) const {
    const std::string shown = Shown(meta::FindField(ServiceSpec(service), "clusterIPs"));
    return InvalidService(service, {meta::Invalid("spec.clusterIPs", shown, fmt::format("failed to allocate IP {}: {}", wish, why))});
  }

  Task<meta::Result<std::string>> TakeAddress(meta::RequestContext ctx, const meta::Object& service, std::string family, std::string wish) {
    const IpRange& range = RangeOf(family);
    if (!wish.empty()) {
      if (!range.Contains(wish)) co_return NoAddress(service, wish, "the provided network does not match the current range");
      const meta::Result<> created = co_await Claim(ctx, wish, family, service);
      if (created) co_return wish;
      if (!created.error().Is("AlreadyExists")) co_return created.error();
      co_return NoAddress(service, wish, "provided IP is already allocated");
    }
    const std::uint64_t offset = range.DynamicOffset();
    const std::uint64_t upper = range.Count() - offset;
    const std::uint64_t start = upper == 0 ? 0 : meta::SecureRandomBits() % upper;
    for (std::uint64_t i = 0; i < range.Count(); ++i) {
      const std::uint64_t index = i < upper ? offset + (start + i) % upper : i - upper;
      const std::string ip = range.At(index);
      const storage::Key key{ip};
      // Most taken addresses are in the cache: only those that look free are tried for real.
      const storage::GetOptions any{.resource_version = "0"};
      const meta::Result<storage::EntryPtr> known = co_await options_.ip_addresses->Get(ctx, key, any);
      if (known) continue;
      const meta::Result<> created = co_await Claim(ctx, ip, family, service);
      if (created) co_return ip;
      if (!created.error().Is("AlreadyExists")) co_return created.error();
    }
    co_return meta::InternalError("failed to allocate a serviceIP: range is full");
  }

  Task<meta::Result<>> Claim(meta::RequestContext ctx, std::string ip, std::string family, const meta::Object& service) {
    const storage::Key key{ip};
    meta::Object address = AddressObject(ip, family, service);
    const meta::Result<storage::EntryPtr> created =
        co_await options_.ip_addresses->Create(ctx, key, std::move(address), std::chrono::seconds(0));
    if (!created) co_return created.error();
    co_return meta::Result<>();
  }

  Task<meta::Result<>> TakePorts(meta::RequestContext ctx, meta::Object& service, std::vector<std::int64_t> owned) {
    if (!NeedsNodePorts(service)) co_return meta::Result<>();
    json::object& spec = meta::MakeObject(service.Root(), "spec");
    const json::value* allocate = meta::FindField(spec, "allocateLoadBalancerNodePorts");
    const bool automatic = !(meta::FindString(spec, "type") == "LoadBalancer" && allocate && allocate->is_bool() && !allocate->get_bool());

    const auto change = std::make_shared<PortChange>();
    change->range = options_.node_ports;
    std::map<std::int64_t, std::string> paths;  // of the ports asked for
    std::map<std::int64_t, std::int64_t> by_port;
    std::vector<std::pair<json::object*, const char*>> open;
    std::map<json::object*, json::object*> twins;  // the same port number in another protocol shares the node port
    std::map<std::int64_t, json::object*> first_open;
    const auto ask = [&](std::int64_t number, std::string path) {
      if (!std::binary_search(owned.begin(), owned.end(), number) && paths.emplace(number, std::move(path)).second) change->wanted.push_back(number);
    };
    const auto ports = Objects(meta::FindField(spec, "ports"));
    for (std::size_t i = 0; i < ports.size(); ++i) {
      const std::int64_t number = NumberAt(ports[i].get(), "nodePort");
      if (number == 0) continue;
      ask(number, fmt::format("spec.ports[{}].nodePort", i));
      by_port.emplace(NumberAt(ports[i].get(), "port"), number);
    }
    for (json::object& port : ports) {
      if (NumberAt(port, "nodePort") != 0 || !automatic) continue;
      const std::int64_t number = NumberAt(port, "port");
      if (const auto same = by_port.find(number); same != by_port.end()) {
        port["nodePort"] = same->second;
      } else if (const auto twin = first_open.find(number); twin != first_open.end()) {
        twins[&port] = twin->second;
      } else {
        first_open[number] = &port;
        open.emplace_back(&port, "nodePort");
      }
    }
    if (NeedsHealthCheckPort(service)) {
      if (const std::int64_t number = NumberAt(spec, "healthCheckNodePort")) {
        ask(number, "spec.healthCheckNodePort");
      } else {
        open.emplace_back(&spec, "healthCheckNodePort");
      }
    }
    for (const std::int64_t number : change->wanted) {
      if (options_.node_ports.Contains(number)) continue;
      const std::string why = fmt::format("provided port is not in the valid range. The range of valid ports is {}", options_.node_ports.ToString());
      co_return InvalidService(service, {meta::Invalid(paths[number], fmt::format("{}", number), why)});
    }
    change->any = open.size();
    if (change->wanted.empty() && change->any == 0) co_return meta::Result<>();
    CO_RETURN_IF_ERROR(co_await WritePorts(ctx, change));
    if (change->conflict) {
      co_return InvalidService(service, {meta::Invalid(paths[*change->conflict], fmt::format("{}", *change->conflict), "provided port is already allocated")});
    }
    if (change->full) co_return meta::InternalError("failed to allocate a nodePort: range is full");
    for (std::size_t i = 0; i < open.size(); ++i) (*open[i].first)[open[i].second] = change->given[i];
    for (const auto& [port, twin] : twins) (*port)["nodePort"] = NumberAt(*twin, "nodePort");
    co_return meta::Result<>();
  }

  Task<meta::Result<>> WritePorts(meta::RequestContext ctx, std::shared_ptr<PortChange> change) {
    const Store::UpdateFn update = [change](const meta::Object* current) { return ApplyPortsTask(change, current); };
    const storage::Key key{kRangeName};
    const storage::Preconditions none;
    const meta::Result<Store::UpdateResult> written = co_await options_.ranges->GuaranteedUpdate(ctx, key, none, true, update);
    if (!written && !change->conflict && !change->full) co_return written.error();
    co_return meta::Result<>();
  }

  Task<> ReleaseAddresses(meta::RequestContext ctx, std::vector<std::string> ips) {
    const auto accept = [](const meta::Object&) -> Task<meta::Result<>> { co_return meta::Result<>(); };
    const Store::ValidateFn any = accept;
    const storage::Preconditions none;
    for (const std::string& ip : ips) {
      if (ip == "None") continue;
      const storage::Key key{ip};
      (void)co_await options_.ip_addresses->Delete(ctx, key, none, any);
    }
  }

  Task<> ReleasePorts(meta::RequestContext ctx, std::vector<std::int64_t> ports) {
    const auto change = std::make_shared<PortChange>();
    change->range = options_.node_ports;
    std::erase_if(ports, [&](std::int64_t port) { return !change->range.Contains(port); });
    if (ports.empty()) co_return;
    change->release = std::move(ports);
    (void)co_await WritePorts(ctx, change);
  }

  Task<> Release(meta::RequestContext ctx, meta::Object service) {
    std::vector<std::string> ips = ClusterIps(service);
    co_await ReleaseAddresses(ctx, std::move(ips));
    std::vector<std::int64_t> ports = NodePortsOf(service);
    co_await ReleasePorts(ctx, std::move(ports));
  }

  AllocationOptions options_;
  std::vector<std::string> families_;
};

}  // namespace

storage::ResourceConfig RangesConfig() {
  storage::ResourceConfig config;
  config.resource = {"", "rangeallocations"};
  config.key_prefix = "ranges";
  config.namespaced = false;
  config.api_version = "v1";
  config.to_json = [](std::string_view stored) -> meta::Result<std::string> {
    const schema::Node* node = schema::Builtin().FindKind(kRangeKind);
    if (!codec::IsProtobuf(stored) || !node) return std::string(stored);
    ASSIGN_OR_RETURN(meta::Object object, codec::ReadProtobuf(stored, *node, meta::NewArena()));
    object.SetGvk(kRangeKind);
    return codec::WriteJson(object.Root());
  };
  return config;
}

std::shared_ptr<registry::Hooks> MakeServiceHooks(AllocationOptions options) { return std::make_shared<ServiceHooks>(std::move(options)); }

}  // namespace apimesh::core_api
