#include "lib/externaljwt/metrics.h"

namespace apimesh::externaljwt {
namespace {

constexpr std::size_t kMaxKept = 64;  // calls before Publish(); later ones are not recorded
constexpr char kFetches[] = "apiserver_externaljwt_fetch_keys_request_total",
               kFetchesHelp[] = "Attempts to fetch the keys of the external signer, by result.",
               kSigns[] = "apiserver_externaljwt_sign_request_total",
               kSignsHelp[] = "Attempts to sign a token with the external signer, by result.";

void SetTimes(service::Metrics& metrics, double now, double data_timestamp) {
  metrics
      .GetGauge("apiserver_externaljwt_fetch_keys_success_timestamp",
                "Time of the last successful fetch of keys, in seconds since 1970.")
      .Set(now);
  metrics
      .GetGauge("apiserver_externaljwt_fetch_keys_data_timestamp",
                "The data timestamp of the last successful fetch of keys, in seconds since 1970.")
      .Set(data_timestamp);
}

}  // namespace

void CallMetrics::Observe(service::Metrics& metrics, const Call& call) {
  metrics
      .GetHistogram("apiserver_externaljwt_request_duration_seconds", "Duration of calls to the external signer.",
                    {.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
                    {{"method", call.method}, {"code", call.code}})
      .Observe(call.seconds);
}

void CallMetrics::Count(service::Metrics& metrics, const char* name, const char* help, const std::string& code) {
  metrics.GetCounter(name, help, {{"code", code}}).Add();
}

void CallMetrics::Publish(service::Metrics& metrics) {
  const std::lock_guard lock(mutex_);
  metrics_ = &metrics;
  for (const Call& call : calls_) Observe(metrics, call);
  for (const std::string& code : fetches_) Count(metrics, kFetches, kFetchesHelp, code);
  if (fetched_at_ > 0) SetTimes(metrics, fetched_at_, data_timestamp_);
  calls_.clear();
  fetches_.clear();
}

void CallMetrics::CountCall(const std::string& method, const std::string& code, double seconds) {
  const std::lock_guard lock(mutex_);
  if (metrics_) {
    Observe(*metrics_, {method, code, seconds});
  } else if (calls_.size() < kMaxKept) {
    calls_.push_back({method, code, seconds});
  }
}

void CallMetrics::CountFetch(const std::string& code) {
  const std::lock_guard lock(mutex_);
  if (metrics_) {
    Count(*metrics_, kFetches, kFetchesHelp, code);
  } else if (fetches_.size() < kMaxKept) {
    fetches_.push_back(code);
  }
}

void CallMetrics::CountSign(const std::string& code) {
  const std::lock_guard lock(mutex_);
  if (metrics_) Count(*metrics_, kSigns, kSignsHelp, code);
}

void CallMetrics::SetFetched(double now, double data_timestamp) {
  const std::lock_guard lock(mutex_);
  fetched_at_ = now;
  data_timestamp_ = data_timestamp;
  if (metrics_) SetTimes(*metrics_, now, data_timestamp);
}

}  // namespace apimesh::externaljwt
