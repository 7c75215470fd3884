#include "services/core-api/groups/core/service/allocation.h"

#include <set>

#include <fmt/format.h>

#include "lib/base/text/base64.h"
#include "lib/codec/codec.h"
#include "lib/meta/time.h"
#include "lib/meta/uuid.h"
#include "lib/registry/cleanup_context.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/core/service/fields.h"
#include "services/core-api/groups/core/service/ip_address_object.h"
#include "services/core-api/groups/core/service/port_change.h"
#include "services/core-api/groups/core/service/rules.h"
#include "services/core-api/groups/core/service/service_ranges.h"
#include "services/core-api/validation/check.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;
using Store = storage::Store;

constexpr const char* kRangeName = "servicenodeports";
constexpr const char* kOtherNetwork = "the provided network does not match the current range";

meta::ApiError InvalidService(const meta::Object& service, const meta::FieldErrors& errors) {
  return meta::Invalid(meta::GroupKind{"", "Service"}, service.Name(), errors);
}

std::vector<std::string> FamiliesOf(const meta::Object& service) {
  std::vector<std::string> families;
  const json::value* list = meta::FindField(ServiceSpec(service), "ipFamilies");
  if (!list || !list->is_array()) return families;
  for (const json::value& family : list->get_array()) {
    if (family.is_string()) families.emplace_back(family.get_string());
  }
  return families;
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
    const meta::Result<> ports = co_await TakePorts(ctx, service, no_ports, false);
    if (!ports) {
      std::vector<std::string> taken = ClusterIps(service);
      co_await ReleaseAddresses(ctx, std::move(taken));
    }
    co_return ports;
  }

  Task<meta::Result<>> BeginUpdate(meta::RequestContext ctx, meta::Object& service, const meta::Object& old) override {
    KeepAllocated(service, old);
    SyncClusterIps(service, &old);
    // The fields that a change of type removes are removed here as well, so that nothing is allocated that the strategy
    // would remove.
    DropTypeDependent(service, old);
    CO_RETURN_IF_ERROR(Prepare(service, &old));
    std::vector<std::string> addresses = ClusterIps(old);
    CO_RETURN_IF_ERROR(co_await TakeAddresses(ctx, service, std::move(addresses)));
    std::vector<std::int64_t> owned = NodePortsOf(old);
    const meta::Result<> ports = co_await TakePorts(ctx, service, std::move(owned), false);
    if (!ports) co_await GiveBack(ctx, service, old);
    co_return ports;
  }

  Task<meta::Result<>> DryRunCreate(meta::RequestContext ctx, meta::Object& service) override {
    SyncClusterIps(service, nullptr);
    CO_RETURN_IF_ERROR(Prepare(service, nullptr));
    const std::vector<std::string> no_addresses;
    const std::vector<std::int64_t> no_ports;
    CO_RETURN_IF_ERROR(co_await PretendAddresses(ctx, service, no_addresses));
    co_return co_await TakePorts(ctx, service, no_ports, true);
  }

  Task<meta::Result<>> DryRunUpdate(meta::RequestContext ctx, meta::Object& service, const meta::Object& old) override {
    KeepAllocated(service, old);
    SyncClusterIps(service, &old);
    DropTypeDependent(service, old);
    CO_RETURN_IF_ERROR(Prepare(service, &old));
    std::vector<std::string> addresses = ClusterIps(old);
    CO_RETURN_IF_ERROR(co_await PretendAddresses(ctx, service, std::move(addresses)));
    std::vector<std::int64_t> owned = NodePortsOf(old);
    co_return co_await TakePorts(ctx, service, std::move(owned), true);
  }

  Task<> GiveBack(meta::RequestContext ctx, const meta::Object& loser, const meta::Object& winner) override {
    std::vector<std::string> ips = ClusterIps(loser);
    std::vector<std::string> kept = ClusterIps(winner);
    std::sort(kept.begin(), kept.end());
    std::erase_if(ips, [&](const std::string& ip) { return std::binary_search(kept.begin(), kept.end(), ip); });
    std::vector<std::int64_t> ports = NodePortsOf(loser);
    const std::vector<std::int64_t> kept_ports = NodePortsOf(winner);
    std::erase_if(ports,
                  [&](std::int64_t port) { return std::binary_search(kept_ports.begin(), kept_ports.end(), port); });
    co_await ReleaseAddresses(ctx, std::move(ips));
    co_await ReleasePorts(ctx, std::move(ports));
  }

  Task<> AbandonCreate(meta::RequestContext ctx, const meta::Object& service) override { return Release(ctx, service); }
  Task<> AfterDelete(meta::RequestContext ctx, const meta::Object& service) override { return Release(ctx, service); }

 private:
  meta::Result<> Prepare(meta::Object& service, const meta::Object* old) const {
    if (const meta::FieldErrors errors = ValidateClusterIps(service); !errors.empty())
      return InvalidService(service, errors);
    if (const meta::FieldErrors errors = InitFamilies(service, old, families_); !errors.empty())
      return InvalidService(service, errors);
    return {};
  }

  /// Allocates one address per family, except for the addresses in `owned`, which the service has already.
  Task<meta::Result<>> TakeAddresses(meta::RequestContext ctx, meta::Object& service, std::vector<std::string> owned) {
    if (!NeedsClusterIp(service) || IsHeadless(service)) co_return meta::Result<>();
    std::vector<std::string> ips = ClusterIps(service);
    const std::vector<std::string> families = FamiliesOf(service);
    std::vector<std::string> taken;
    for (std::size_t i = 0; i < families.size(); ++i) {
      const bool asked = i < ips.size();
      if (asked && std::find(owned.begin(), owned.end(), ips[i]) != owned.end()) continue;
      const std::string requested = asked ? ips[i] : "";
      const meta::Result<std::string> ip = co_await TakeAddress(ctx, service, families[i], requested);
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

  meta::ApiError NoAddress(const meta::Object& service, const std::string& requested, std::string_view why) const {
    const std::string shown = Shown(meta::FindField(ServiceSpec(service), "clusterIPs"));
    return InvalidService(service, {meta::Invalid("spec.clusterIPs", shown,
                                                  fmt::format("failed to allocate IP {}: {}", requested, why))});
  }

  Task<meta::Result<std::string>> TakeAddress(meta::RequestContext ctx, const meta::Object& service, std::string family,
                                              std::string requested) {
    ASSIGN_OR_CO_RETURN(const std::vector<IpRange> ranges,
                        co_await ServiceRanges(ctx, options_.service_cidrs, options_.cidrs, family, CidrState::kReady));
    if (!requested.empty()) {
      if (!AnyContains(ranges, requested)) co_return NoAddress(service, requested, kOtherNetwork);
      const meta::Result<> created = co_await Claim(ctx, requested, family, service);
      if (created) co_return requested;
      if (!created.error().Is(meta::Reason::kAlreadyExists)) co_return created.error();
      co_return NoAddress(service, requested, "provided IP is already allocated");
    }
    for (const IpRange& range : ranges) {
      meta::Result<std::optional<std::string>> ip = co_await TakeAny(ctx, service, family, range);
      if (!ip) co_return ip.error();
      if (*ip) co_return std::move(**ip);
    }
    co_return meta::InternalError(
        fmt::format("failed to allocate a serviceIP for Service {}: range is full", meta::Quoted(service.Name())));
  }

  /// Allocates any free address of a range. Returns nullopt if the range is full.
  Task<meta::Result<std::optional<std::string>>> TakeAny(meta::RequestContext ctx, const meta::Object& service,
                                                         std::string family, IpRange range) {
    const std::uint64_t offset = range.DynamicOffset();
    const std::uint64_t upper = range.Count() - offset;
    const std::uint64_t start = upper == 0 ? 0 : meta::SecureRandomBits() % upper;
    for (std::uint64_t i = 0; i < range.Count(); ++i) {
      const std::uint64_t index = i < upper ? offset + (start + i) % upper : i - upper;
      const std::string ip = range.At(index);
      const storage::Key key{ip};
      // Most allocated addresses are in the cache, so a claim is attempted only for addresses that seem free.
      const storage::GetOptions any{.resource_version = "0"};
      const meta::Result<storage::EntryPtr> known = co_await options_.ip_addresses->Get(ctx, key, any);
      if (known) continue;
      const meta::Result<> created = co_await Claim(ctx, ip, family, service);
      if (created) co_return std::optional(ip);
      if (!created.error().Is(meta::Reason::kAlreadyExists)) co_return created.error();
    }
    co_return std::optional<std::string>();
  }

  Task<meta::Result<>> Claim(meta::RequestContext ctx, std::string ip, std::string family,
                             const meta::Object& service) {
    const storage::Key key{ip};
    meta::Object address = AddressObject(ip, family, service, options_.clock->Now());
    const meta::Result<storage::EntryPtr> created =
        co_await options_.ip_addresses->Create(ctx, key, std::move(address), std::chrono::seconds(0));
    if (!created) co_return created.error();
    co_return meta::Result<>();
  }

  /// Sets the addresses that a dry run shows: those that the client asks for, and the network address of a range in
  /// place of any others.
  Task<meta::Result<>> PretendAddresses(meta::RequestContext ctx, meta::Object& service,
                                        std::vector<std::string> owned) {
    if (!NeedsClusterIp(service) || IsHeadless(service)) co_return meta::Result<>();
    std::vector<std::string> ips = ClusterIps(service);
    const std::vector<std::string> families = FamiliesOf(service);
    for (std::size_t i = 0; i < families.size(); ++i) {
      ASSIGN_OR_CO_RETURN(
          const std::vector<IpRange> ranges,
          co_await ServiceRanges(ctx, options_.service_cidrs, options_.cidrs, families[i], CidrState::kReady));
      if (i < ips.size()) {
        if (std::find(owned.begin(), owned.end(), ips[i]) != owned.end() || AnyContains(ranges, ips[i])) continue;
        co_return NoAddress(service, ips[i], kOtherNetwork);
      }
      if (!ranges.empty()) ips.push_back(ranges.front().Network());
    }
    SetClusterIps(service, ips);
    co_return meta::Result<>();
  }

  /// `dry_run`: only checks whether the requested ports are free, and sets ports that exist in no range for the others.
  Task<meta::Result<>> TakePorts(meta::RequestContext ctx, meta::Object& service, std::vector<std::int64_t> owned,
                                 bool dry_run) {
    if (!NeedsNodePorts(service)) co_return meta::Result<>();
    json::object& spec = meta::MakeObject(service.Root(), "spec");
    const json::value* allocate = meta::FindField(spec, "allocateLoadBalancerNodePorts");
    const bool automatic =
        !(meta::FindString(spec, "type") == "LoadBalancer" && allocate && allocate->is_bool() && !allocate->get_bool());

    const auto change = std::make_shared<PortChange>();
    change->range = options_.node_ports;
    std::map<std::int64_t, std::string> paths;  // field paths of the requested ports
    std::map<std::int64_t, std::int64_t> by_port;
    std::vector<std::pair<json::object*, const char*>> open;
    std::map<json::object*, json::object*>
        twins;  // ports with the same number and another protocol share the node port
    std::map<std::int64_t, json::object*> first_open;
    const auto ask = [&](std::int64_t number, std::string path) {
      if (!std::binary_search(owned.begin(), owned.end(), number) && paths.emplace(number, std::move(path)).second)
        change->wanted.push_back(number);
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
      const std::string why = fmt::format("provided port is not in the valid range. The range of valid ports is {}",
                                          options_.node_ports.ToString());
      co_return InvalidService(service, {meta::Invalid(paths[number], fmt::format("{}", number), why)});
    }
    change->any = open.size();
    if (change->wanted.empty() && change->any == 0) co_return meta::Result<>();
    if (dry_run) {
      CO_RETURN_IF_ERROR(co_await CheckPorts(ctx, change));
    } else {
      CO_RETURN_IF_ERROR(co_await WritePorts(ctx, change));
    }
    if (change->conflict) {
      co_return InvalidService(service, {meta::Invalid(paths[*change->conflict], fmt::format("{}", *change->conflict),
                                                       "provided port is already allocated")});
    }
    if (change->full) co_return meta::InternalError("failed to allocate a nodePort: range is full");
    for (std::size_t i = 0; i < open.size(); ++i) (*open[i].first)[open[i].second] = change->given[i];
    for (const auto& [port, twin] : twins) (*port)["nodePort"] = NumberAt(*twin, "nodePort");
    co_return meta::Result<>();
  }

  Task<meta::Result<>> CheckPorts(meta::RequestContext ctx, std::shared_ptr<PortChange> change) {
    constexpr std::int64_t kPretended = 32768;  // the ports that kube-apiserver shows in a dry run follow this number
    const storage::Key key{kRangeName};
    const storage::GetOptions newest;
    const meta::Result<storage::EntryPtr> stored = co_await options_.ranges->Get(ctx, key, newest);
    if (stored) {
      ASSIGN_OR_CO_RETURN(const json::value parsed, codec::ParseJson((*stored)->JsonText(), meta::NewArena()));
      std::string bytes;
      if (parsed.is_object()) DecodeBase64(meta::FindString(parsed.get_object(), "data"), bytes);
      const PortBitmap bitmap(change->range, std::move(bytes));
      for (const std::int64_t port : change->wanted) {
        if (bitmap.Taken(port)) change->conflict = port;
      }
    } else if (!stored.error().Is(meta::Reason::kNotFound)) {
      co_return stored.error();
    }
    std::int64_t last = change->wanted.empty() ? kPretended : 0;
    for (const std::int64_t port : change->wanted) last = std::max(last, port);
    for (std::size_t i = 0; i < change->any; ++i) change->given.push_back(++last);
    co_return meta::Result<>();
  }

  Task<meta::Result<>> WritePorts(meta::RequestContext ctx, std::shared_ptr<PortChange> change) {
    const Store::UpdateFn update = [change](const meta::Object* current) { return ApplyPortsTask(change, current); };
    const storage::Key key{kRangeName};
    const storage::Preconditions none;
    const meta::Result<Store::UpdateResult> written =
        co_await options_.ranges->GuaranteedUpdate(ctx, key, none, true, update);
    if (!written && !change->conflict && !change->full) co_return written.error();
    co_return meta::Result<>();
  }

  /// Releases also after the deadline of the request, as ReleasePorts() does.
  Task<> ReleaseAddresses(meta::RequestContext ctx, std::vector<std::string> ips) {
    const meta::RequestContext cleanup = registry::CleanupContext(ctx, *options_.clock);
    const auto accept = [](const meta::Object&) -> Task<meta::Result<>> { co_return meta::Result<>(); };
    const Store::ValidateFn any = accept;
    const storage::Preconditions none;
    for (const std::string& ip : ips) {
      if (ip == "None") continue;
      const storage::Key key{ip};
      (void)co_await options_.ip_addresses->Delete(cleanup, key, none, any);
    }
  }

  Task<> ReleasePorts(meta::RequestContext ctx, std::vector<std::int64_t> ports) {
    const auto change = std::make_shared<PortChange>();
    change->range = options_.node_ports;
    std::erase_if(ports, [&](std::int64_t port) { return !change->range.Contains(port); });
    if (ports.empty()) co_return;
    change->release = std::move(ports);
    const meta::RequestContext cleanup = registry::CleanupContext(ctx, *options_.clock);
    (void)co_await WritePorts(cleanup, change);
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

std::shared_ptr<registry::Hooks> MakeServiceHooks(AllocationOptions options) {
  return std::make_shared<ServiceHooks>(std::move(options));
}

}  // namespace apimesh::core_api
