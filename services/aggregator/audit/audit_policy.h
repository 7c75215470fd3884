#pragma once

#include <string>
#include <vector>

#include "lib/meta/request_info.h"
#include "lib/meta/user.h"

namespace apimesh::aggregator {

enum class AuditLevel { kNone, kMetadata, kRequest, kRequestResponse };
enum class AuditStage { kRequestReceived, kResponseStarted, kResponseComplete, kPanic };
std::string_view ToString(AuditLevel level);
std::string_view ToString(AuditStage stage);

/// audit.k8s.io/v1 Policy: the first rule that fits decides.
class AuditPolicy {
 public:
  /// Reads a policy file (YAML or JSON); throws std::runtime_error with a clear text.
  static AuditPolicy FromFile(const std::string& path);
  static AuditPolicy FromText(const std::string& text);

  struct Decision {
    AuditLevel level = AuditLevel::kNone;
    bool omitted[4] = {};  // by AuditStage
  };
  Decision Evaluate(const meta::UserInfo& user, const meta::RequestInfo& info) const;

 private:
  struct GroupResources {
    std::string group;
    std::vector<std::string> resources, resource_names;
  };
  struct Rule {
    AuditLevel level = AuditLevel::kNone;
    std::vector<std::string> users, groups, verbs, namespaces, urls;
    std::vector<GroupResources> resources;
    bool omitted[4] = {};
    bool Fits(const meta::UserInfo& user, const meta::RequestInfo& info) const;
  };
  std::vector<Rule> rules_;
};

}  // namespace apimesh::aggregator
