#include "lib/admission/webhooks/configurations.h"

#include "lib/base/async/wakeup.h"

namespace apimesh::admission::webhooks {
namespace {

constexpr Duration kLongestWait = std::chrono::seconds(10);
constexpr Duration kPoll = std::chrono::milliseconds(10);

}  // namespace

Configurations::Configurations(const ObjectsPtr& objects, const meta::Gvr& resource, CompileInputs inputs)
    : inputs_(std::move(inputs)) {
  if (!objects) return;
  subscription_ = objects->Subscribe(resource, [this](const Change& change) { Apply(change); });
}

void Configurations::Apply(const Change& change) {
  const std::string name(change.object->Name());
  if (change.type == Change::Type::kRemoved) {
    const std::lock_guard lock(mutex_);
    by_configuration_.erase(name);
    list_ = nullptr;
    return;
  }
  std::vector<WebhookPtr> known;
  {
    const std::lock_guard lock(mutex_);
    known = by_configuration_[name];
  }
  std::vector<WebhookPtr> compiled = CompileWebhooks(*change.object, inputs_, known);
  const std::lock_guard lock(mutex_);
  by_configuration_[name] = std::move(compiled);
  list_ = nullptr;
}

bool Configurations::Synced() const {
  if (synced_.load(std::memory_order_acquire)) return true;
  if (!subscription_ || !subscription_->Synced()) return false;
  synced_.store(true, std::memory_order_release);
  return true;
}

Task<bool> Configurations::WaitUntilSynced(meta::RequestContext ctx) const {
  for (Duration waited{}; waited < kLongestWait; waited += kPoll) {
    if (Synced()) co_return true;
    if (!subscription_ || ctx.Abandoned()) co_return false;
    co_await SleepFor(kPoll);
  }
  co_return Synced();
}

std::shared_ptr<const WebhookList> Configurations::Current() const {
  const std::lock_guard lock(mutex_);
  if (list_) return list_;
  // The list is made when it is first needed, so that many changes in a row cost one list.
  auto made = std::make_shared<WebhookList>();
  for (const auto& [name, webhooks] : by_configuration_) {
    for (const WebhookPtr& webhook : webhooks) {
      made->index.Add(static_cast<matching::RuleIndex::Item>(made->webhooks.size()), webhook->criteria);
      made->webhooks.push_back(webhook);
    }
  }
  list_ = std::move(made);
  return list_;
}

}  // namespace apimesh::admission::webhooks
