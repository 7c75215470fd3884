#pragma once

#include <map>
#include <string>
#include <vector>

namespace apimesh::meta {

/// The authenticated user of a request. authn-authz determines it; other processes only forward and read it.
struct UserInfo {
  std::string name;
  std::string uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;

  bool operator==(const UserInfo&) const = default;
};

}  // namespace apimesh::meta
