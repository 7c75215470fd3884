#pragma once

#include <string>
#include <vector>

#include "lib/meta/request/request_info.h"
#include "lib/meta/request/user.h"

namespace apimesh::aggregator {

enum class AuditLevel { kNone, kMetadata, kRequest, kRequestResponse };
enum class AuditStage { kRequestReceived, kResponseStarted, kResponseComplete, kPanic };
std::string_view ToString(AuditLevel level);
std::string_view ToString(AuditStage stage);

/// An audit.k8s.io/v1 Policy. The first rule that matches decides.
class AuditPolicy {
 public:
  /// Reads a policy file (YAML or JSON). Throws std::runtime_error with kube-apiserver's message if it is invalid.
  /// Unknown fields are ignored with a warning in the log.
  static AuditPolicy FromFile(const std::string& path);
  static AuditPolicy FromText(const std::string& text);

  struct Decision {
    AuditLevel level = AuditLevel::kNone;
    bool omitted[4] = {};  // indexed by AuditStage
    bool omits_managed_fields = false;
  };
  Decision Evaluate(const meta::UserInfo& user, const meta::RequestInfo& info) const;

  struct GroupResources {
    std::string group;
    std::vector<std::string> resources, resource_names;
  };
  struct Rule {
    Decision decision;
    std::vector<std::string> users, groups, verbs, namespaces, urls;
    std::vector<GroupResources> resources;
    bool Fits(const meta::UserInfo& user, const meta::RequestInfo& info) const;
  };

 private:
  std::vector<Rule> rules_;
};

}  // namespace apimesh::aggregator
