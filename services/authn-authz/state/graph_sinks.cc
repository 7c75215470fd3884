#include "services/authn-authz/state/graph_sinks.h"

#include "services/authn-authz/authorizers/node/references.h"

namespace apimesh::authn_authz {
namespace {

class GraphSink final : public mesh::ObjectSink {
 public:
  GraphSink(std::shared_ptr<NodeGraph> graph, GraphKind kind) : graph_(std::move(graph)), kind_(kind) {}

  std::vector<std::string> Reads() const override {
    if (kind_ == GraphKind::kPod) return PodReferencePaths();
    return {};
  }
  void Set(const boost::json::object& object) override {
    switch (kind_) {
      case GraphKind::kPod: return graph_->SetPod(object);
      case GraphKind::kPersistentVolume: return graph_->SetPersistentVolume(object);
      case GraphKind::kVolumeAttachment:
      case GraphKind::kResourceSlice:
      case GraphKind::kPodCertificateRequest: return graph_->SetObjectOfNode(kind_, object);
      default: return;
    }
  }
  void Remove(const std::string& ns, const std::string& name) override { graph_->Remove(kind_, ns, name); }
  std::vector<std::pair<std::string, std::string>> Names() const override { return graph_->Names(kind_); }

 private:
  std::shared_ptr<NodeGraph> graph_;
  const GraphKind kind_;
};

class TeeSink final : public mesh::ObjectSink {
 public:
  TeeSink(std::unique_ptr<mesh::ObjectSink> first, std::unique_ptr<mesh::ObjectSink> second)
      : first_(std::move(first)), second_(std::move(second)) {}
  std::vector<std::string> Reads() const override {
    std::vector<std::string> both = first_->Reads();
    const std::vector<std::string> more = second_->Reads();
    if (both.empty() || more.empty()) return {};
    both.insert(both.end(), more.begin(), more.end());
    return both;
  }
  void Set(const boost::json::object& object) override {
    first_->Set(object);
    second_->Set(object);
  }
  void Remove(const std::string& ns, const std::string& name) override {
    first_->Remove(ns, name);
    second_->Remove(ns, name);
  }
  std::vector<std::pair<std::string, std::string>> Names() const override { return first_->Names(); }

 private:
  std::unique_ptr<mesh::ObjectSink> first_, second_;
};

}  // namespace

std::unique_ptr<mesh::ObjectSink> NewGraphSink(std::shared_ptr<NodeGraph> graph, GraphKind kind) {
  return std::make_unique<GraphSink>(std::move(graph), kind);
}

std::unique_ptr<mesh::ObjectSink> NewTeeSink(std::unique_ptr<mesh::ObjectSink> first,
                                             std::unique_ptr<mesh::ObjectSink> second) {
  return std::make_unique<TeeSink>(std::move(first), std::move(second));
}

}  // namespace apimesh::authn_authz
