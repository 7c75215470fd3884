#include "services/core-api/groups/core/service/repair/address_watch.h"

#include <algorithm>

#include <fmt/format.h>

#include "services/core-api/groups/core/service/repair/records.h"

namespace apimesh::core_api {

AddressWatch::AddressWatch(storage::StorePtr addresses, storage::StorePtr services, std::function<void()> harmed)
    : services_(std::move(services)),
      harmed_(std::move(harmed)),
      follower_(std::make_shared<storage::Follower>("the IP addresses", std::move(addresses))) {}

Task<> AddressWatch::Run(std::shared_ptr<AddressWatch> self) {
  storage::Follower::Callbacks callbacks;
  callbacks.opened = [] {};
  callbacks.events = [self](std::vector<storage::Event> events) { return Look(self, std::move(events)); };
  co_await storage::Follower::Run(self->follower_, std::move(callbacks));
}

Task<> AddressWatch::Look(std::shared_ptr<AddressWatch> self, std::vector<storage::Event> events) {
  for (const storage::Event& event : events) {
    bool harm = event.type == storage::Event::Type::kModified;
    // A service is deleted before its addresses, so that these are not in use.
    if (event.type == storage::Event::Type::kDeleted) harm = co_await self->IsUsed(*event.object);
    if (!harm) continue;
    self->harmed_();
    co_return;
  }
}

Task<bool> AddressWatch::IsUsed(const storage::Entry& address) const {
  const std::optional<AddressRecord> record = ReadAddress(address.JsonText());
  if (!record || !record->of_service) co_return false;
  const storage::Key key{fmt::format("{}/{}", record->parent_ns, record->parent_name)};
  const storage::GetOptions cached{.resource_version = "0"};
  const meta::RequestContext ctx;
  const meta::Result<storage::EntryPtr> entry = co_await services_->Get(ctx, key, cached);
  const std::optional<ServiceRecord> service = entry ? ReadService((*entry)->JsonText()) : std::nullopt;
  co_return service&& std::find(service->ips.begin(), service->ips.end(), record->reference.name) != service->ips.end();
}

}  // namespace apimesh::core_api
