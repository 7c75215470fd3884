#pragma once

#include <map>
#include <unordered_map>

#include "lib/cel/cost/estimate.h"
#include "lib/cel/syntax/ast.h"

namespace apimesh::cel {

/// What is known about an argument of a call.
struct CostNode {
  const Node* node = nullptr;
  TypeRef type;
  std::vector<std::string> path;  // empty: unknown
  std::optional<SizeRange> size;
};

struct CallEstimate {
  CostRange cost;
  std::optional<SizeRange> result_size;
};

/// The sizes of the keys and values of a list or map.
struct EntrySizes {
  bool list = false;
  SizeRange key, value;
};

/// A call whose cost is estimated.
struct EstimatedCall {
  std::string_view function, overload;
  const CostNode* target = nullptr;
  std::span<const CostNode> args;
  const SizeEstimator* sizes = nullptr;

  SizeRange SizeOf(const CostNode& node) const;
  /// The elements of a list.
  std::optional<CostNode> ElementOf(const CostNode& list) const;
};

/// The costs of Kubernetes' and the extension libraries; nothing for other functions. Costs of the arguments are not
/// included.
std::optional<CallEstimate> EstimateLibraryCall(const EstimatedCall& call);

}  // namespace apimesh::cel
