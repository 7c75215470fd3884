#pragma once

#include <boost/json/object.hpp>

#include <string>
#include <utility>
#include <vector>

namespace apimesh::authn_authz {

/// Where the objects of one watch go. Called by one watch at a time.
class ObjectSink {
 public:
  virtual ~ObjectSink() = default;
  /// Paths ("spec.nodeName") of what Set() reads of an object, besides its name: the rest may be missing. Empty: everything.
  virtual std::vector<std::string> Reads() const { return {}; }
  virtual void Set(const boost::json::object& object) = 0;
  virtual void Remove(const std::string& ns, const std::string& name) = 0;
  /// {namespace, name} of all it holds: after a new list, what is not in it is removed.
  virtual std::vector<std::pair<std::string, std::string>> Names() const = 0;
};

}  // namespace apimesh::authn_authz
