#pragma once

#include <string>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

namespace apimesh::mesh {

/// Receives the objects of one watch. Only one watch calls it at a time.
class ObjectSink {
 public:
  virtual ~ObjectSink() = default;
  /// Paths ("spec.nodeName") of the fields that Set() reads, besides the name and namespace. Other fields may be
  /// missing from the objects. An empty list means all fields.
  virtual std::vector<std::string> Reads() const { return {}; }
  virtual void Set(const boost::json::object& object) = 0;
  virtual void Remove(const std::string& ns, const std::string& name) = 0;
  /// {namespace, name} of all objects that the sink holds. After a new list, objects that are not in the list are
  /// removed.
  virtual std::vector<std::pair<std::string, std::string>> Names() const = 0;
};

}  // namespace apimesh::mesh
