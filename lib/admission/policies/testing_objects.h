#pragma once

#include <map>

#include <boost/json/parse.hpp>

#include "lib/admission/objects/object_table.h"

/// For tests of policies.
namespace apimesh::admission::policies {

/// Objects in memory. Subscribers get changes at once. An object is found by its resource, namespace and name.
class FakeObjects final : public Objects {
 public:
  void Set(const meta::Gvr& resource, const std::string& json) {
    auto object = std::make_shared<const meta::Object>(boost::json::parse(json).as_object());
    tables_[resource].emplace_back(object);
    for (const auto& changed : subscribers_[resource]) changed({Change::Type::kSet, object});
  }
  Task<meta::Result<ObjectPtr>> Get(meta::RequestContext, meta::Gvr resource, std::string ns, std::string name,
                                    Read) override {
    for (const ObjectPtr& object : tables_[resource]) {
      if (object->Namespace() == ns && object->Name() == name) co_return object;
    }
    co_return meta::NotFound(resource.GroupResource(), name);
  }
  Task<meta::Result<std::vector<ObjectPtr>>> List(meta::RequestContext, meta::Gvr resource, std::string ns,
                                                  meta::LabelSelector labels, Read) override {
    std::vector<ObjectPtr> out;
    for (const ObjectPtr& object : tables_[resource]) {
      if ((ns.empty() || object->Namespace() == ns) && labels.Matches(LabelsOf(*object))) out.push_back(object);
    }
    co_return out;
  }
  std::unique_ptr<Subscription> Subscribe(const meta::Gvr& resource,
                                          std::function<void(const Change& change)> changed) override {
    for (const ObjectPtr& object : tables_[resource]) changed({Change::Type::kSet, object});
    subscribers_[resource].push_back(std::move(changed));
    return std::make_unique<Handle>(*this);
  }

  bool synced = true;
  int checks_until_synced = 0;  // how often a subscriber finds that it is not synced before it is

 private:
  class Handle final : public Subscription {
   public:
    explicit Handle(FakeObjects& objects) : objects_(objects) {}
    bool Synced() const override { return objects_.synced && objects_.checks_until_synced-- <= 0; }

   private:
    FakeObjects& objects_;
  };
  std::map<meta::Gvr, std::vector<ObjectPtr>> tables_;
  std::map<meta::Gvr, std::vector<std::function<void(const Change& change)>>> subscribers_;
};

inline meta::Gvr AdmissionResource(const std::string& plural) { return {"admissionregistration.k8s.io", "v1", plural}; }

}  // namespace apimesh::admission::policies
