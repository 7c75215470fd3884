#pragma once

#include <functional>
#include <string>

#include "lib/base/async/task.h"
#include "lib/meta/errors/api_error.h"
#include "lib/service/metrics.h"

namespace apimesh::authn_authz {

/// Reloads a configuration file when it changes (it is checked every second), and counts the results in
/// apiserver_CONTROLLER_automatic_reloads_total and related metrics.
class ConfigReloader {
 public:
  /// Applies new contents. If it returns an error, the configuration in use must stay unchanged. A 503 is retried;
  /// after any other error the next attempt follows the next change of the file.
  using Apply = std::function<Task<meta::Result<>>(std::string contents)>;

  ConfigReloader(std::string file, std::string controller, Apply apply, service::Metrics& metrics, const Clock& clock);

  /// Runs forever.
  Task<> Run();
  /// Checks the file once. Public for tests.
  Task<> CheckOnce();

 private:
  void Record(bool success);
  void RecordInfo(const std::string& contents);

  const std::string file_, controller_, identity_;
  const Apply apply_;
  service::Metrics& metrics_;
  const Clock& clock_;
  std::string known_;  // contents that have been handled
  std::string info_hash_;
};

}  // namespace apimesh::authn_authz
