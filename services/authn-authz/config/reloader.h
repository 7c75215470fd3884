#pragma once

#include <functional>
#include <string>

#include "lib/base/task.h"
#include "lib/meta/api_error.h"
#include "lib/service/metrics.h"

namespace apimesh::authn_authz {

/// Reads a configuration file again whenever it changes (it looks every second), and counts how that went in
/// apiserver_CONTROLLER_automatic_reloads_total and its companions.
class ConfigReloader {
 public:
  /// Puts new contents to use, or says why not; what was in use then stays. A 503 is tried again, any other error only
  /// after the next change of the file.
  using Apply = std::function<Task<meta::Result<>>(std::string contents)>;

  ConfigReloader(std::string file, std::string controller, Apply apply, service::Metrics& metrics);

  /// For ever.
  Task<> Run();
  /// One look; public for tests.
  Task<> CheckOnce();

 private:
  void Record(bool success);
  void RecordInfo(const std::string& contents);

  const std::string file_, controller_, identity_;
  const Apply apply_;
  service::Metrics& metrics_;
  std::string known_;  // contents that need no further look
  std::string info_hash_;
};

}  // namespace apimesh::authn_authz
