#pragma once

#include "lib/admission/plugins/node_restriction/node_restriction.h"
#include "lib/admission/testing_cluster.h"

/// A small cluster for the tests of this folder: the plugin over stores in memory.
namespace apimesh::admission::node_restriction {

/// A write of node n1.
struct Write {
  Operation operation = Operation::kCreate;
  std::string resource;
  std::string name;
  std::string object, old_object;  // JSON; "" if there is none
  std::string ns = "ns";
  meta::UserInfo user = {.name = "system:node:n1", .groups = {"system:nodes", "system:authenticated"}};
};

class TestCluster : public admission::TestCluster {
 public:
  TestCluster() {
    Put({"", "nodes"}, "n1", R"({"metadata":{"name":"n1","uid":"node-uid"}})");
    Put({"", "pods"}, "ns/mine",
        R"({"metadata":{"name":"mine","namespace":"ns","uid":"pod-uid"},"spec":{"nodeName":"n1"}})");
    Put({"", "serviceaccounts"}, "ns/sa", R"({"metadata":{"name":"sa","namespace":"ns","uid":"sa-uid"}})");
    Put({"", "pods"}, "ns/other",
        R"({"metadata":{"name":"other","namespace":"ns","uid":"pod-uid"},"spec":{"nodeName":"n2"}})");
  }

  /// Returns "" if the plugin admits the write, else the code and the message.
  std::string Answer(const Write& write) {
    const std::unique_ptr<Plugin> plugin = MakeNodeRestriction(Inputs());
    const Outcome outcome = Run(
        *plugin, {write.operation, write.resource, write.name, write.object, write.old_object, write.ns, write.user});
    return outcome.asked ? outcome.error : "not asked";
  }
};

}  // namespace apimesh::admission::node_restriction
