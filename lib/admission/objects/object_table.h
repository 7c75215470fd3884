#pragma once

#include <functional>
#include <list>
#include <map>
#include <mutex>

#include "lib/admission/objects/objects.h"

namespace apimesh::admission {

/// All objects of one resource in memory, and the subscribers to their changes. A watch writes the table, plugins read
/// it. Thread-safe.
class ObjectTable : public std::enable_shared_from_this<ObjectTable> {
 public:
  using Name = std::pair<std::string, std::string>;  // namespace and name

  // Set(), Remove(), Names() and MarkSynced() are for the one watch that fills the table.
  void Set(ObjectPtr object);
  void Remove(const std::string& ns, const std::string& name);
  std::vector<Name> Names() const;
  /// Records that all objects that existed when the watch began have been set.
  void MarkSynced();

  bool Synced() const;
  /// Returns nullptr if the table has no such object.
  ObjectPtr Find(const std::string& ns, const std::string& name) const;
  std::vector<ObjectPtr> List(const std::string& ns, const meta::LabelSelector& labels) const;
  std::unique_ptr<Subscription> Subscribe(std::function<void(const Change&)> changed);

 private:
  class Handle;
  using Callback = std::function<void(const Change&)>;
  void Report(const Change& change);

  /// Held while changes are reported, so that every subscriber receives them one at a time and in order. It is locked
  /// before mutex_.
  std::mutex reporting_;
  std::list<Callback> subscribers_;  // guarded by reporting_
  mutable std::mutex mutex_;
  std::map<Name, ObjectPtr> objects_;  // guarded by mutex_
  bool synced_ = false;                // guarded by mutex_
};

/// Returns the labels of an object in the representation that selectors use.
meta::Labels LabelsOf(const meta::Object& object);

}  // namespace apimesh::admission
