#include "services/authn-authz/state/rbac_sinks.h"

#include "lib/meta/object.h"

namespace apimesh::authn_authz {
namespace {

class RoleSink final : public mesh::ObjectSink {
 public:
  RoleSink(std::shared_ptr<RbacIndex> index, bool cluster, std::function<void()> changed)
      : index_(std::move(index)), cluster_(cluster), changed_(std::move(changed)) {}

  void Set(const boost::json::object& role) override {
    const std::string ns(meta::FindString(role, "metadata", "namespace")),
        name(meta::FindString(role, "metadata", "name"));
    if (index_->SetRole(ns, name, ParseRules(role))) changed_();
  }
  void Remove(const std::string& ns, const std::string& name) override {
    if (index_->SetRole(ns, name, std::nullopt)) changed_();
  }
  std::vector<std::pair<std::string, std::string>> Names() const override { return index_->RoleNames(cluster_); }

 private:
  std::shared_ptr<RbacIndex> index_;
  const bool cluster_;
  std::function<void()> changed_;
};

Binding ParseBinding(const boost::json::object& object) {
  Binding binding;
  binding.ns = meta::FindString(object, "metadata", "namespace");
  binding.name = meta::FindString(object, "metadata", "name");
  binding.role = {std::string(meta::FindString(object, "roleRef", "kind")),
                  std::string(meta::FindString(object, "roleRef", "name"))};
  const boost::json::value* subjects = meta::FindField(object, "subjects");
  if (!subjects || !subjects->is_array()) return binding;
  for (const boost::json::value& item : subjects->get_array()) {
    if (!item.is_object()) continue;
    const boost::json::object& subject = item.get_object();
    binding.subjects.push_back({std::string(meta::FindString(subject, "kind")),
                                std::string(meta::FindString(subject, "namespace")),
                                std::string(meta::FindString(subject, "name"))});
  }
  return binding;
}

class BindingSink final : public mesh::ObjectSink {
 public:
  BindingSink(std::shared_ptr<RbacIndex> index, bool cluster, std::function<void()> changed)
      : index_(std::move(index)), cluster_(cluster), changed_(std::move(changed)) {}

  void Set(const boost::json::object& object) override {
    if (index_->SetBinding(ParseBinding(object))) changed_();
  }
  void Remove(const std::string& ns, const std::string& name) override {
    if (index_->RemoveBinding(ns, name)) changed_();
  }
  std::vector<std::pair<std::string, std::string>> Names() const override { return index_->BindingNames(cluster_); }

 private:
  std::shared_ptr<RbacIndex> index_;
  const bool cluster_;
  std::function<void()> changed_;
};

}  // namespace

std::unique_ptr<mesh::ObjectSink> NewRoleSink(std::shared_ptr<RbacIndex> index, bool cluster,
                                              std::function<void()> changed) {
  return std::make_unique<RoleSink>(std::move(index), cluster, std::move(changed));
}

std::unique_ptr<mesh::ObjectSink> NewBindingSink(std::shared_ptr<RbacIndex> index, bool cluster,
                                                 std::function<void()> changed) {
  return std::make_unique<BindingSink>(std::move(index), cluster, std::move(changed));
}

}  // namespace apimesh::authn_authz
