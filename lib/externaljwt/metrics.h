#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "lib/service/metrics.h"

namespace apimesh::externaljwt {

/// The metrics apiserver_externaljwt_*. They are kept until Publish(), because the first calls are made before the
/// process has a registry. Thread-safe.
class CallMetrics {
 public:
  void Publish(service::Metrics& metrics);

  void CountCall(const std::string& method, const std::string& code, double seconds);
  void CountFetch(const std::string& code);
  void CountSign(const std::string& code);
  void SetFetched(double now, double data_timestamp);

 private:
  struct Call {
    std::string method, code;
    double seconds;
  };
  static void Observe(service::Metrics& metrics, const Call& call);
  static void Count(service::Metrics& metrics, const char* name, const char* help, const std::string& code);

  std::mutex mutex_;
  service::Metrics* metrics_ = nullptr;  // guarded by mutex_, as all below
  std::vector<Call> calls_;              // before Publish()
  std::vector<std::string> fetches_;     // before Publish()
  double fetched_at_ = 0, data_timestamp_ = 0;
};

}  // namespace apimesh::externaljwt
