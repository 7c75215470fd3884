#include "services/core-api/groups/core/service/repair/repair.h"

#include <algorithm>

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "lib/base/log.h"
#include "lib/base/text/base64.h"
#include "lib/codec/codec.h"
#include "lib/meta/time.h"
#include "services/core-api/groups/core/service/ip_address_object.h"
#include "services/core-api/groups/core/service/repair/address_repair.h"
#include "services/core-api/groups/core/service/service_ranges.h"
#include "services/core-api/validation/ip_rules.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;
using Store = storage::Store;

constexpr const char* kAddressController = "ipallocator-repair-controller";
constexpr const char* kPortController = "portallocator-repair-controller";
constexpr std::chrono::seconds kTimeout{30};

/// Reads all objects of a store. Objects that cannot be read are omitted.
template <class Record>
Task<meta::Result<std::vector<Record>>> ReadAll(meta::RequestContext ctx, storage::StorePtr store,
                                                std::optional<Record> (*read)(std::string_view json)) {
  const storage::ListOptions newest;
  ASSIGN_OR_CO_RETURN(const std::unique_ptr<storage::ListCursor> cursor, co_await store->List(ctx, newest));
  std::vector<Record> records;
  for (std::vector<storage::EntryPtr> entries; !(entries = cursor->Next(100)).empty();) {
    for (const storage::EntryPtr& entry : entries) {
      if (std::optional<Record> record = read(entry->JsonText())) records.push_back(std::move(*record));
    }
  }
  co_return records;
}

Task<meta::Result<>> Accept(const meta::Object&) { co_return meta::Result<>(); }

Task<meta::Result<std::optional<Store::Update>>> WithPorts(std::string range, std::string bytes,
                                                           const meta::Object* current) {
  json::object root;
  if (current) root = current->Root();
  root["range"] = range;
  root["data"] = EncodeBase64(bytes);
  co_return std::optional<Store::Update>(Store::Update{meta::Object(std::move(root)), std::chrono::seconds(0)});
}

}  // namespace

meta::RequestContext ServiceRepair::Context() const {
  meta::RequestContext::State state;
  state.deadline = {options_.allocation.clock->Steady() + kTimeout, *options_.allocation.clock};
  return meta::RequestContext(std::move(state));
}

Task<meta::Result<std::vector<ServiceRecord>>> ServiceRepair::Services() {
  return ReadAll<ServiceRecord>(Context(), options_.services, &ReadService);
}

Task<meta::Result<std::vector<AddressRecord>>> ServiceRepair::Addresses() {
  return ReadAll<AddressRecord>(Context(), options_.allocation.ip_addresses, &ReadAddress);
}

Task<std::optional<WallTime>> ServiceRepair::Run() {
  co_await RepairPorts();
  co_return co_await RunAddresses();
}

Task<std::optional<WallTime>> ServiceRepair::RunAddresses() {
  // The addresses are read first: the address of a service that is deleted in between is then known, not missing.
  const meta::Result<std::vector<AddressRecord>> addresses = co_await Addresses();
  const meta::Result<std::vector<ServiceRecord>> services = co_await Services();
  if (!addresses || !services) {
    log::Warning("repair of service addresses: {}", (addresses ? services.error() : addresses.error()).Message());
    co_return std::nullopt;
  }
  co_return co_await RepairAddresses(*services, *addresses);
}

Task<std::optional<WallTime>> ServiceRepair::RepairAddresses(const std::vector<ServiceRecord>& services,
                                                             const std::vector<AddressRecord>& addresses) {
  const meta::Result<std::vector<IpRange>> ranges = co_await ServiceRanges(
      Context(), options_.allocation.service_cidrs, options_.allocation.cidrs, "", CidrState::kAny);
  if (!ranges) co_return std::nullopt;
  AddressPlan plan = PlanAddressRepair(services, addresses, *ranges, options_.allocation.clock->Now());
  for (const AddressChange& change : plan.changes) {
    const bool made = co_await Make(change);
    if (!made || !change.event) continue;
    log::Warning("{}", change.event->note);
    co_await Report(*change.event, kAddressController);
  }
  for (const RepairEvent& event : plan.events) co_await Report(event, kAddressController);
  co_return plan.check_again;
}

Task<bool> ServiceRepair::Make(const AddressChange& change) {
  const meta::RequestContext ctx = Context();
  const storage::GetOptions newest;
  const storage::Key address_key{change.ip};
  // The plan is from lists that were read one after the other, so the service is read again.
  if (change.service) {
    const storage::Key key{fmt::format("{}/{}", change.service->reference.ns, change.service->reference.name)};
    const meta::Result<storage::EntryPtr> entry = co_await options_.services->Get(ctx, key, newest);
    const std::optional<ServiceRecord> service = entry ? ReadService((*entry)->JsonText()) : std::nullopt;
    if (!service || service->reference.uid != change.service->reference.uid ||
        std::find(service->ips.begin(), service->ips.end(), change.ip) == service->ips.end()) {
      co_return false;
    }
  }
  if (change.kind != AddressChange::Kind::kCreate) {
    storage::Preconditions same;
    same.uid = change.old_uid;
    const Store::ValidateFn accept = &Accept;
    const meta::Result<storage::EntryPtr> deleted =
        co_await options_.allocation.ip_addresses->Delete(ctx, address_key, same, accept);
    if (!deleted) co_return false;
  }
  if (change.kind == AddressChange::Kind::kDelete) co_return true;
  json::object metadata{{"namespace", change.service->reference.ns}, {"name", change.service->reference.name}};
  const meta::Object service(json::object{{"metadata", std::move(metadata)}});
  meta::Object address = AddressObject(change.ip, IpFamilyOf(change.ip), service, options_.allocation.clock->Now());
  const meta::Result<storage::EntryPtr> created =
      co_await options_.allocation.ip_addresses->Create(ctx, address_key, std::move(address), std::chrono::seconds(0));
  co_return created.has_value();
}

Task<> ServiceRepair::RepairPorts() {
  const meta::RequestContext ctx = Context();
  const storage::Key key{"servicenodeports"};
  const storage::GetOptions newest;
  const meta::Result<storage::EntryPtr> stored = co_await options_.allocation.ranges->Get(ctx, key, newest);
  if (!stored) co_return;  // nothing was ever allocated
  const meta::Result<json::value> parsed = codec::ParseJson((*stored)->JsonText(), meta::NewArena());
  if (!parsed || !parsed->is_object()) co_return;
  const meta::Result<std::vector<ServiceRecord>> services = co_await Services();
  if (!services) co_return;
  std::string bytes;
  DecodeBase64(meta::FindString(parsed->get_object(), "data"), bytes);
  const PortRange& range = options_.allocation.node_ports;
  const std::string before = PortBitmap(range, bytes).Bytes();
  PortLeaks leaks = leaks_;
  const PortPlan plan = PlanPortRepair(*services, range, std::move(bytes), leaks);
  if (plan.bytes != before || meta::FindString(parsed->get_object(), "range") != range.ToString()) {
    // A port that is allocated in the meantime changes the version; the next check sees it.
    storage::Preconditions unchanged;
    unchanged.resource_version = std::to_string((*stored)->ModRevision());
    const Store::UpdateFn update = [text = range.ToString(), bitmap = plan.bytes](const meta::Object* current) {
      return WithPorts(text, bitmap, current);
    };
    const meta::Result<Store::UpdateResult> written =
        co_await options_.allocation.ranges->GuaranteedUpdate(ctx, key, unchanged, false, update);
    if (!written) co_return;
  }
  leaks_ = std::move(leaks);
  for (const RepairEvent& event : plan.events) {
    log::Warning("{}", event.note);
    co_await Report(event, kPortController);
  }
}

Task<> ServiceRepair::Report(RepairEvent event, std::string controller) {
  if (!options_.send) co_return;
  const WallTime now = options_.allocation.clock->Now();
  const Reference& about = event.regarding;
  const std::string ns = about.ns.empty() ? "default" : about.ns;
  const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count();
  json::object regarding{{"kind", about.kind},
                         {"name", about.name},
                         {"uid", about.uid},
                         {"apiVersion", about.api_version},
                         {"resourceVersion", about.resource_version}};
  if (!about.ns.empty()) regarding["namespace"] = about.ns;
  const json::object body{{"apiVersion", "events.k8s.io/v1"},
                          {"kind", "Event"},
                          {"metadata", {{"name", fmt::format("{}.{:x}", about.name, nanoseconds)}, {"namespace", ns}}},
                          {"eventTime", meta::FormatMicroTime(now)},
                          {"reportingController", controller},
                          {"reportingInstance", fmt::format("{}-{}", controller, options_.host)},
                          {"action", event.action},
                          {"reason", event.reason},
                          {"regarding", std::move(regarding)},
                          {"note", event.note},
                          {"type", "Warning"}};
  std::string path = fmt::format("/apis/events.k8s.io/v1/namespaces/{}/events", ns);
  std::string text = boost::json::serialize(body);
  (void)co_await options_.send("POST", std::move(path), std::move(text));
}

}  // namespace apimesh::core_api
