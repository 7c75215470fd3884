#include "lib/admission/plugins/event_rate_limit/event_rate_limit.h"

#include <list>
#include <mutex>
#include <stdexcept>
#include <unordered_map>

#include <fmt/format.h>

#include "lib/admission/fields.h"
#include "lib/base/token_bucket.h"
#include "lib/codec/config_section.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::admission {
namespace {

using meta::FindString;

constexpr std::int64_t kDefaultCacheSize = 4096;

/// Returns what events of the same source about the same object have in common.
std::string SourceAndObject(const meta::RequestContext&, const Attributes& attributes) {
  const json::object& event = attributes.object->Root();
  std::string key;
  for (const char* field : {"component", "host"}) key += FindString(event, "source", field);
  for (const char* field : {"kind", "namespace", "name", "uid", "apiVersion"})
    key += FindString(event, "involvedObject", field);
  return key;
}
std::string ServerKey(const meta::RequestContext&, const Attributes&) { return ""; }
std::string NamespaceKey(const meta::RequestContext&, const Attributes& attributes) { return attributes.ns; }
std::string UserKey(const meta::RequestContext& ctx, const Attributes&) { return ctx.User().name; }

struct LimitType {
  std::string_view name;
  std::string (*key)(const meta::RequestContext& ctx, const Attributes& attributes);
};
constexpr LimitType kLimitTypes[] = {
    {"Server", &ServerKey}, {"Namespace", &NamespaceKey}, {"User", &UserKey}, {"SourceAndObject", &SourceAndObject}};

/// One limit with a token bucket for each key. Forgets the keys that were not used for the longest time. Thread-safe.
class Limit {
 public:
  Limit(const LimitType& type, std::int64_t qps, std::int64_t burst, std::size_t keys)
      : type_(type), full_(static_cast<int>(burst), Duration(std::chrono::seconds(1)) / qps), max_keys_(keys) {}

  /// Returns the error of kube-apiserver if the rate is too high, or "".
  std::string Accept(const meta::RequestContext& ctx, const Attributes& attributes, SteadyTime now) {
    const std::string key = type_.key(ctx, attributes);
    const std::lock_guard lock(mutex_);
    if (BucketOf(key).Take(now)) return "";
    return fmt::format("limit reached on type {} for key {}", type_.name, key);
  }

 private:
  using Buckets = std::list<std::pair<std::string, TokenBucket>>;

  TokenBucket& BucketOf(const std::string& key) {
    const auto found = by_key_.find(key);
    if (found != by_key_.end()) {
      buckets_.splice(buckets_.begin(), buckets_, found->second);
      return buckets_.front().second;
    }
    buckets_.emplace_front(key, full_);
    by_key_[key] = buckets_.begin();
    if (buckets_.size() > max_keys_) {
      by_key_.erase(buckets_.back().first);
      buckets_.pop_back();
    }
    return buckets_.front().second;
  }

  const LimitType& type_;
  const TokenBucket full_;
  const std::size_t max_keys_;
  std::mutex mutex_;
  Buckets buckets_;                                            // the last used one is the first; guarded by mutex_
  std::unordered_map<std::string, Buckets::iterator> by_key_;  // guarded by mutex_
};

class EventRateLimit final : public Plugin {
 public:
  EventRateLimit(std::vector<std::unique_ptr<Limit>> limits, const Clock& clock)
      : limits_(std::move(limits)), clock_(clock) {}

  bool Handles(Phase phase, const Attributes& attributes) const override {
    return phase == Phase::kValidate && IsResource(attributes, "", "events") && !attributes.dry_run &&
           (attributes.operation == Operation::kCreate || attributes.operation == Operation::kUpdate);
  }

  Task<meta::Result<>> Validate(meta::RequestContext ctx, const Attributes& attributes) override {
    std::vector<std::string> errors;
    for (const std::unique_ptr<Limit>& limit : limits_) {
      if (std::string error = limit->Accept(ctx, attributes, clock_.Steady()); !error.empty())
        errors.push_back(std::move(error));
    }
    if (errors.empty()) co_return meta::Result<>();
    meta::ApiError::Data data;
    data.code = 429;
    data.reason = meta::Reason::kTooManyRequests;
    data.message = "Too many requests: " + JoinErrors(errors);
    co_return meta::ApiError(std::move(data));
  }

 private:
  const std::vector<std::unique_ptr<Limit>> limits_;
  const Clock& clock_;
};

void Report(const meta::FieldError& error, std::vector<std::string>& errors) {
  errors.push_back(fmt::format("{}: {}", error.field, error.Message()));
}

/// Returns nullptr and reports errors if the limit is invalid.
std::unique_ptr<Limit> ReadLimit(const json::object& limit, const std::string& path, std::vector<std::string>& errors) {
  const std::size_t before = errors.size();
  const std::string_view name = FindString(limit, "type");
  const LimitType* type = nullptr;
  for (const LimitType& one : kLimitTypes) {
    if (one.name == name) type = &one;
  }
  if (!type) {
    Report(meta::NotSupported(path + ".type", meta::Quoted(name), {"Namespace", "Server", "SourceAndObject", "User"}),
           errors);
  }
  const std::int64_t burst = NumberAt(limit, "burst").value_or(0), qps = NumberAt(limit, "qps").value_or(0),
                     keys = NumberAt(limit, "cacheSize").value_or(0);
  if (burst <= 0) Report(meta::Invalid(path + ".burst", std::to_string(burst), "must be positive"), errors);
  if (qps <= 0) Report(meta::Invalid(path + ".qps", std::to_string(qps), "must be positive"), errors);
  if (name != "Server" && keys < 0)
    Report(meta::Invalid(path + ".cacheSize", std::to_string(keys), "must not be negative"), errors);
  if (errors.size() > before) return nullptr;
  return std::make_unique<Limit>(*type, qps, burst, static_cast<std::size_t>(keys > 0 ? keys : kDefaultCacheSize));
}

std::vector<std::unique_ptr<Limit>> ReadLimits(const std::optional<std::string>& section) {
  std::vector<std::string> errors;
  std::vector<std::unique_ptr<Limit>> limits;
  json::object document;
  if (section && !section->empty()) {
    static constexpr std::string_view kVersions[] = {"eventratelimit.admission.k8s.io/v1alpha1"};
    document = codec::ReadSection(*section, kVersions, "Configuration");
  }
  const json::array& items = ListAt(document, "limits");
  if (items.empty()) {
    const json::value* given = meta::FindField(document, "limits");
    Report(meta::Invalid("limits", given && given->is_array() ? "[]" : "null", "must not be empty"), errors);
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    static const json::object kNone;
    const json::object& limit = items[i].is_object() ? items[i].get_object() : kNone;
    limits.push_back(ReadLimit(limit, fmt::format("limits[{}]", i), errors));
  }
  if (!errors.empty()) throw std::invalid_argument(JoinErrors(errors));
  return limits;
}

}  // namespace

std::unique_ptr<Plugin> MakeEventRateLimit(const PluginInputs& inputs) {
  return std::make_unique<EventRateLimit>(ReadLimits(inputs.section), *inputs.clock);
}

}  // namespace apimesh::admission
