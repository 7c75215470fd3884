#pragma once

#include <map>
#include <string>
#include <vector>

#include "lib/registry/resource.h"

namespace apimesh::endpoint {

/// The conversions that one write needs for managedFields of other versions, for a kind whose conversion suspends.
/// The functions that compute managedFields cannot suspend. They ask Find(); what is not known yet is converted
/// afterwards, and the computation is repeated. Used by the coroutine of one request only.
class ConvertedViews {
 public:
  using Convert = decltype(registry::Resource::convert_suspending);
  using View = patch::ManagerInfo::View;

  explicit ConvertedViews(Convert convert) : convert_(std::move(convert)) {}

  /// Returns the converted object, or nullopt if its version does not exist or if the conversion is not known yet.
  std::optional<View> Find(const meta::Object& object, std::string_view api_version);

  /// Starts a computation. After it, ConvertMissing() must be called.
  void Begin() { missing_.clear(); }
  /// Runs the conversions that were not known. Returns true if there were any, so that the computation has to be
  /// repeated.
  Task<meta::Result<bool>> ConvertMissing();

 private:
  using Key = std::pair<std::string, std::string>;  // the version and the JSON of the object
  struct Missing {
    Key key;
    meta::Object object;
  };
  static constexpr int kMaxRounds = 64;

  const Convert convert_;
  std::map<Key, std::optional<View>> known_;
  std::vector<Missing> missing_;
  int rounds_ = 0;
};

}  // namespace apimesh::endpoint
