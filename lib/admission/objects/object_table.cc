#include "lib/admission/objects/object_table.h"

#include <algorithm>

namespace apimesh::admission {

/// Owns one callback in the list of the table, and removes it when it is destroyed.
class ObjectTable::Handle final : public Subscription {
 public:
  Handle(std::shared_ptr<ObjectTable> table, std::list<Callback>::iterator place)
      : table_(std::move(table)), place_(place) {}
  ~Handle() override {
    const std::lock_guard lock(table_->reporting_);
    table_->subscribers_.erase(place_);
  }
  bool Synced() const override { return table_->Synced(); }

 private:
  const std::shared_ptr<ObjectTable> table_;
  const std::list<Callback>::iterator place_;
};

void ObjectTable::Report(const Change& change) {
  for (const Callback& changed : subscribers_) changed(change);
}

void ObjectTable::Set(ObjectPtr object) {
  const std::lock_guard reporting(reporting_);
  {
    const std::lock_guard lock(mutex_);
    objects_[{std::string(object->Namespace()), std::string(object->Name())}] = object;
  }
  Report({Change::Type::kSet, std::move(object)});
}

void ObjectTable::Remove(const std::string& ns, const std::string& name) {
  const std::lock_guard reporting(reporting_);
  ObjectPtr last;
  {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find({ns, name});
    if (found == objects_.end()) return;
    last = std::move(found->second);
    objects_.erase(found);
  }
  Report({Change::Type::kRemoved, std::move(last)});
}

std::vector<ObjectTable::Name> ObjectTable::Names() const {
  const std::lock_guard lock(mutex_);
  std::vector<Name> names;
  for (const auto& [name, object] : objects_) names.push_back(name);
  return names;
}

void ObjectTable::MarkSynced() {
  const std::lock_guard lock(mutex_);
  synced_ = true;
}

bool ObjectTable::Synced() const {
  const std::lock_guard lock(mutex_);
  return synced_;
}

ObjectPtr ObjectTable::Find(const std::string& ns, const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find({ns, name});
  return found == objects_.end() ? nullptr : found->second;
}

std::vector<ObjectPtr> ObjectTable::List(const std::string& ns, const meta::LabelSelector& labels) const {
  const std::lock_guard lock(mutex_);
  std::vector<ObjectPtr> found;
  // The objects of a namespace are adjacent in the map.
  const auto first = ns.empty() ? objects_.begin() : objects_.lower_bound({ns, ""});
  for (auto it = first; it != objects_.end() && (ns.empty() || it->first.first == ns); ++it) {
    if (labels.Empty() || labels.Matches(LabelsOf(*it->second))) found.push_back(it->second);
  }
  return found;
}

std::unique_ptr<Subscription> ObjectTable::Subscribe(std::function<void(const Change&)> changed) {
  const std::lock_guard reporting(reporting_);
  std::vector<ObjectPtr> present;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, object] : objects_) present.push_back(object);
  }
  for (ObjectPtr& object : present) changed({Change::Type::kSet, std::move(object)});
  subscribers_.push_back(std::move(changed));
  return std::make_unique<Handle>(shared_from_this(), std::prev(subscribers_.end()));
}

meta::Labels LabelsOf(const meta::Object& object) {
  meta::Labels labels;
  const meta::json::value* found = meta::FindField(object.Metadata(), "labels");
  if (!found || !found->is_object()) return labels;
  for (const auto& [key, text] : found->get_object()) {
    if (text.is_string()) labels.emplace_back(key, std::string_view(text.get_string()));
  }
  std::sort(labels.begin(), labels.end());
  return labels;
}

}  // namespace apimesh::admission
