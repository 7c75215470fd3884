#include "lib/codec/codec.h"
#include "services/core-api/groups/core/componentstatus/componentstatus.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;
using storage::EntryPtr;

constexpr std::chrono::seconds kLongestProbe{20};

class ComputedEntry final : public storage::Entry {
 public:
  ComputedEntry(std::string name, const json::object& document)
      : key_{std::move(name)}, json_(codec::WriteJson(document)) {}
  const storage::Key& GetKey() const override { return key_; }
  storage::Revision ModRevision() const override { return 0; }
  SharedBytes Json() const override { return json_; }
  std::string_view JsonText() const override { return json_.View(); }
  const meta::Labels& GetLabels() const override { return labels_; }
  std::string_view FieldValue(std::string_view field) const override {
    return field == "metadata.name" ? std::string_view(key_.text) : std::string_view();
  }
  SharedBytes Encoded(std::string_view, const std::function<std::string(std::string_view)>& make) const override {
    return SharedBytes(make(json_.View()));
  }
  SharedBytes EncodedAt(WallTime, std::string_view, const std::function<Timed(std::string_view)>& make) const override {
    return SharedBytes(make(json_.View()).text);
  }

 private:
  const storage::Key key_;
  const SharedBytes json_;
  const meta::Labels labels_;
};

class ComputedList final : public storage::ListCursor {
 public:
  explicit ComputedList(std::vector<EntryPtr> entries) : entries_(std::move(entries)) {}
  storage::Revision At() const override { return 0; }
  std::vector<EntryPtr> Next(std::size_t) override { return std::exchange(entries_, {}); }
  std::string ContinueToken() const override { return ""; }
  std::optional<std::int64_t> Remaining() const override { return std::nullopt; }

 private:
  std::vector<EntryPtr> entries_;
};

Task<EntryPtr> Ask(std::string name, ComponentProbe probe, const Clock& clock) {
  const ComponentHealth health = co_await probe(clock.Steady() + kLongestProbe);
  json::object condition = {{"type", "Healthy"}, {"status", health.healthy ? "True" : "False"}};
  if (!health.message.empty()) condition["message"] = health.message;
  const json::object document = {{"kind", "ComponentStatus"},
                                 {"apiVersion", "v1"},
                                 {"metadata", {{"name", name}}},
                                 {"conditions", json::array{condition}}};
  co_return std::make_shared<ComputedEntry>(name, document);
}

class ComputedStore final : public storage::Store {
 public:
  ComputedStore(ComponentProbes probes, const Clock* clock) : probes_(std::move(probes)), clock_(clock) {}

  Task<meta::Result<EntryPtr>> Get(meta::RequestContext, storage::Key key, storage::GetOptions) override {
    const auto found = probes_.find(key.text);
    if (found == probes_.end()) co_return meta::NotFound(meta::GroupResource{"", "componentstatus"}, key.text);
    EntryPtr entry = co_await Ask(found->first, found->second, *clock_);
    co_return entry;
  }
  Task<meta::Result<std::unique_ptr<storage::ListCursor>>> List(meta::RequestContext,
                                                                storage::ListOptions options) override {
    std::vector<EntryPtr> entries;
    for (const auto& [name, probe] : probes_) {
      EntryPtr entry = co_await Ask(name, probe, *clock_);
      const meta::FieldSelector::Lookup lookup = [&entry](std::string_view field) { return entry->FieldValue(field); };
      if (options.labels.Matches(entry->GetLabels()) && options.fields.Matches(lookup))
        entries.push_back(std::move(entry));
    }
    co_return std::unique_ptr<storage::ListCursor>(std::make_unique<ComputedList>(std::move(entries)));
  }

  // Nothing is stored. The verbs of the resource do not include the operations below.
  Task<meta::Result<std::unique_ptr<storage::Watcher>>> Watch(meta::RequestContext, storage::WatchOptions) override {
    co_return Refused("watch");
  }
  Task<meta::Result<EntryPtr>> Create(meta::RequestContext, storage::Key, meta::Object, std::chrono::seconds) override {
    co_return Refused("create");
  }
  Task<meta::Result<UpdateResult>> GuaranteedUpdate(meta::RequestContext, storage::Key, storage::Preconditions, bool,
                                                    UpdateFn) override {
    co_return Refused("update");
  }
  Task<meta::Result<EntryPtr>> Delete(meta::RequestContext, storage::Key, storage::Preconditions, ValidateFn) override {
    co_return Refused("delete");
  }
  Task<meta::Result<>> DeleteUnreadable(meta::RequestContext, storage::Key) override { co_return Refused("delete"); }
  Task<meta::Result<std::int64_t>> Count(meta::RequestContext) override {
    co_return static_cast<std::int64_t>(probes_.size());
  }
  meta::Result<> Ready() const override { return {}; }

 private:
  static meta::ApiError Refused(std::string_view verb) {
    return meta::MethodNotSupported({"", "componentstatuses"}, verb);
  }
  const ComponentProbes probes_;
  const Clock* const clock_;
};

}  // namespace

storage::StorePtr ComponentStatusStore(ComponentProbes probes, const Clock* clock) {
  return std::make_shared<ComputedStore>(std::move(probes), clock);
}

}  // namespace apimesh::core_api
