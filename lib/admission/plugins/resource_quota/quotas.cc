#include "lib/admission/plugins/resource_quota/quotas.h"

#include <fmt/format.h>

#include "lib/admission/fields.h"

namespace apimesh::admission::resource_quota {
namespace {

const meta::Gvr kQuotas{"", "v1", "resourcequotas"};

}  // namespace

Quotas::Quotas(ObjectsPtr objects, SendRequest send, const Clock* clock)
    : objects_(std::move(objects)), send_(std::move(send)), clock_(clock) {}

void Quotas::Table::Apply(const Change& change) {
  if (change.type == Change::Type::kSet) return Set(change.object, true);
  const std::unique_lock lock(mutex);
  const auto quotas = by_namespace.find(std::string(change.object->Namespace()));
  if (quotas == by_namespace.end()) return;
  quotas->second.erase(std::string(change.object->Name()));
  if (quotas->second.empty()) by_namespace.erase(quotas);
}

void Quotas::Table::Set(ObjectPtr object, bool add) {
  const std::string ns(object->Namespace());
  QuotaPtr quota = ReadQuota(std::move(object));
  const std::unique_lock lock(mutex);
  if (!add && !by_namespace.contains(ns)) return;
  std::map<std::string, QuotaPtr>& quotas = by_namespace[ns];
  const auto known = quotas.find(quota->name);
  if (known == quotas.end()) {
    if (add) quotas.emplace(quota->name, std::move(quota));
  } else if (known->second->version < quota->version) {
    known->second = std::move(quota);
  }
}

bool Quotas::Synced() {
  std::call_once(subscribed_, [this] {
    if (!objects_) return;
    subscription_ = objects_->Subscribe(kQuotas, [table = table_](const Change& change) { table->Apply(change); });
  });
  return subscription_ && subscription_->Synced();
}

bool Quotas::MayHave(const std::string& ns) {
  if (!Synced()) return true;
  const std::shared_lock lock(table_->mutex);
  return table_->by_namespace.contains(ns);
}

Task<meta::Result<std::vector<QuotaPtr>>> Quotas::Of(std::string ns, Read read, SteadyTime deadline) {
  std::vector<QuotaPtr> found;
  if (!objects_) co_return PlainError("error resolving quota: resourcequotas cannot be read here");
  if (read == Read::kNewest || !Synced()) {
    meta::RequestContext::State state;
    state.deadline = meta::RequestDeadline(deadline, *clock_);
    const meta::RequestContext ctx(std::move(state));
    const meta::LabelSelector all;
    ASSIGN_OR_CO_RETURN(const std::vector<ObjectPtr> objects,
                        co_await objects_->List(ctx, kQuotas, ns, all, Read::kNewest));
    for (const ObjectPtr& object : objects) {
      table_->Set(object, false);
      found.push_back(ReadQuota(object));
    }
    co_return found;
  }
  const std::shared_lock lock(table_->mutex);
  const auto quotas = table_->by_namespace.find(ns);
  if (quotas == table_->by_namespace.end()) co_return found;
  for (const auto& [name, quota] : quotas->second) found.push_back(quota);
  co_return found;
}

Task<meta::Result<>> Quotas::WriteUsage(QuotaPtr quota, Amounts used) {
  if (!send_) co_return PlainError("resourcequotas cannot be written here");
  std::string path =
      fmt::format("/api/v1/namespaces/{}/resourcequotas/{}/status", quota->object->Namespace(), quota->name);
  std::string body = WithUsage(*quota, used);
  meta::Result<meta::Object> written = co_await send_("PUT", std::move(path), std::move(body));
  if (!written) co_return written.error();
  table_->Set(std::make_shared<const meta::Object>(std::move(*written)), false);
  co_return meta::Result<>();
}

}  // namespace apimesh::admission::resource_quota
