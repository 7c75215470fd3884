#include <cmath>

#include "lib/cel/cost/estimator.h"
#include "lib/cel/cost/sizes.h"

namespace apimesh::cel {
namespace {

constexpr std::uint64_t kAll = UINT64_MAX;

bool OneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

CallEstimate Fixed(std::uint64_t cost) { return {CostRange::Fixed(cost), std::nullopt}; }

std::uint64_t IntLiteral(const CostNode& node, std::uint64_t otherwise) {
  if (!node.node || node.node->kind != Node::Kind::kLiteral || !node.node->literal.Is(Value::Kind::kInt))
    return otherwise;
  return node.node->literal.AsInt() < 0 ? 0 : node.node->literal.AsUint();
}

CallEstimate NewList(double factor, SizeRange size) {
  return {size.Times(factor) + CostRange::Fixed(1) + CostRange::Fixed(kListCost), size};
}

bool IsText(const Type& type) { return type.Is(Type::Kind::kString) || type.Is(Type::Kind::kBytes); }

// ext.Lists and ext.Sets, which are selected by overload.
std::optional<CallEstimate> EstimateExtension(const EstimatedCall& call) {
  const std::string_view id = call.overload;
  if (id == "list_slice") {
    const std::uint64_t begin = IntLiteral(call.args[0], 0),
                        end = IntLiteral(call.args[1], call.SizeOf(*call.target).max);
    return NewList(1, SizeRange::Fixed(end - begin));
  }
  if (id == "lists_range") return NewList(1, SizeRange::Fixed(IntLiteral(call.args[0], kAll)));
  if (id == "list_reverse") return NewList(1, call.SizeOf(*call.target));
  if (id == "list_flatten" || id == "list_flatten_int") {
    const std::uint64_t depth = call.args.empty() ? 1 : IntLiteral(call.args[0], kAll);
    return NewList(static_cast<double>(depth), call.SizeOf(*call.target));
  }
  if (id == "list_distinct") return NewList(2, call.SizeOf(*call.target) * call.SizeOf(*call.target));
  const bool sort = id.ends_with("_sort"), sort_by = id.ends_with("_sortByAssociatedKeys");
  if (sort || sort_by) {
    const SizeRange size = call.SizeOf(sort ? *call.target : call.args[0]);
    const bool text = id.starts_with("list_string_") || id.starts_with("list_bytes_");
    return NewList(text ? 2 + kTextCost : 2, size * size);
  }
  if (!id.starts_with("list_sets_")) return std::nullopt;
  const double factor = id == "list_sets_equivalent_list" ? 2 : 1;
  return CallEstimate{(call.SizeOf(call.args[0]) * call.SizeOf(call.args[1])).Times(factor) + CostRange::Fixed(1), {}};
}

CallEstimate EstimateReplace(const EstimatedCall& call) {
  const SizeRange size = call.SizeOf(*call.target), old = call.SizeOf(call.args[0]), with = call.SizeOf(call.args[1]);
  SizeRange count, kept;
  const auto plus_one = [](std::uint64_t n) { return n < kAll ? n + 1 : n; };
  const auto divide = [](std::uint64_t a, std::uint64_t b) {
    const double quotient = std::ceil(static_cast<double>(a) / static_cast<double>(b));
    return quotient >= 18446744073709551616.0 ? kAll : static_cast<std::uint64_t>(quotient);
  };
  if (old.min == 0) {
    count.max = plus_one(size.max);
    kept.max = size.max;
  } else if (with.max <= old.min) {
    kept.max = size.max;
  } else {
    count.max = divide(size.max, old.min);
  }
  if (old.max == 0) {
    count.min = plus_one(size.min);
    kept.min = size.min;
  } else if (old.max <= with.min) {
    kept.min = size.min;
  } else {
    count.min = divide(size.min, old.max);
  }
  return {size.Times(2 * kTextCost), count * with + kept};
}

CallEstimate EstimateSplit(const EstimatedCall& call) {
  const SizeRange size = call.SizeOf(*call.target);
  std::uint64_t parts = size.max;
  if (call.args.size() > 1 && call.args[1].node && call.args[1].node->kind == Node::Kind::kLiteral &&
      call.args[1].node->literal.Is(Value::Kind::kInt))
    parts = call.args[1].node->literal.AsUint();
  return {size.Times(2 * kTextCost), SizeRange{0, parts}};
}

CallEstimate EstimateJoin(const EstimatedCall& call) {
  const SizeRange list = call.SizeOf(*call.target);
  SizeRange size;
  if (const auto element = call.ElementOf(*call.target)) size = list * call.SizeOf(*element);
  if (!call.args.empty()) {
    const SizeRange separators{list.min > 0 ? list.min - 1 : 0, list.max > 0 ? list.max - 1 : 0};
    size = size + call.SizeOf(call.args[0]) * separators;
  }
  return {size.Times(kTextCost), size};
}

CallEstimate EstimateTraversal(const EstimatedCall& call) {
  const auto element = call.ElementOf(*call.target);
  if (!element) return {call.SizeOf(*call.target).Times(kTextCost), {}};  // indexOf of a text
  CostRange cost = CostRange::Fixed(1);
  if (IsText(*element->type)) cost = cost + call.SizeOf(*element).Times(kTextCost);
  return {call.SizeOf(*call.target) * cost, {}};
}

CallEstimate EstimateContains(const EstimatedCall& call) {
  const SizeRange address{4, 16};
  CostRange cost = (address + address).Times(kTextCost);
  if (call.function == "containsCIDR") cost = cost + address.Times(kTextCost) + CostRange::Fixed(1);
  if (call.overload == "cidr_contains_ip_string" || call.overload == "cidr_contains_cidr_string")
    cost = cost + call.SizeOf(call.args[0]).Times(kTextCost);
  return {cost, {}};
}

std::optional<CallEstimate> EstimateEquality(const EstimatedCall& call) {
  const Type &left = *call.args[0].type, &right = *call.args[1].type;
  if (left.name != right.name) return std::nullopt;
  if (left.name == "kubernetes.NamedFormat") return CallEstimate{CostRange{1, 64}.Times(kTextCost), {}};
  if (left.name == "kubernetes.URL") {
    const std::uint64_t size = call.args[1].size ? call.args[1].size->max : 1;
    return CallEstimate{CostRange{1, size}.Times(kTextCost), {}};
  }
  if (OneOf(left.name, {"net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.Semver"}) ||
      left.name.starts_with("kubernetes.authorization."))
    return Fixed(1);
  return std::nullopt;
}

}  // namespace

SizeRange EstimatedCall::SizeOf(const CostNode& node) const {
  if (node.size) return *node.size;
  if (sizes && !node.path.empty()) {
    if (const auto size = sizes->EstimateSize(node.path, *node.type)) return *size;
  }
  return SizeRange::Unknown();
}

std::optional<CostNode> EstimatedCall::ElementOf(const CostNode& list) const {
  if (list.type->parameters.empty()) return std::nullopt;
  CostNode out;
  out.type = list.type->parameters[0];
  if (!list.path.empty()) {
    out.path = list.path;
    out.path.push_back("@items");
  }
  return out;
}

std::optional<CallEstimate> EstimateLibraryCall(const EstimatedCall& call) {
  if (auto extension = EstimateExtension(call)) return extension;
  const std::string_view f = call.function;
  const std::size_t args = call.args.size();
  if (f == "check") return Fixed(350'000);
  if (OneOf(f, {"serviceAccount",
                "path",
                "group",
                "resource",
                "subresource",
                "namespace",
                "name",
                "allowed",
                "reason",
                "error",
                "errored",
                "masked",
                "prefixLength",
                "family",
                "isUnspecified",
                "isLoopback",
                "isLinkLocalMulticast",
                "isLinkLocalUnicast",
                "isGlobalUnicast",
                "format.named",
                "sign",
                "asInteger",
                "isInteger",
                "asApproximateFloat",
                "isGreaterThan",
                "isLessThan",
                "compareTo",
                "add",
                "sub",
                "major",
                "minor",
                "patch",
                "getScheme",
                "getHostname",
                "getHost",
                "getPort",
                "getEscapedPath",
                "getQuery"}) ||
      call.overload == "cidr_ip")
    return Fixed(1);
  if ((f == "fieldSelector" || f == "labelSelector") && args == 1) {
    const SizeRange size = call.SizeOf(call.args[0]);
    return CallEstimate{CostRange::Fixed(kListCost) + size.Times(kTextCost) +
                            size.Times(0.5).Times(static_cast<double>(kListCost + kStructCost)),
                        {}};
  }
  if (call.target && OneOf(f, {"isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"}))
    return EstimateTraversal(call);
  if ((f == "url" || f == "jsonpatch.escapeKey") && args == 1)
    return CallEstimate{call.SizeOf(call.args[0]).Times(kTextCost), call.SizeOf(call.args[0])};
  if (call.target && OneOf(f, {"lowerAscii", "upperAscii", "substring", "trim"}))
    return CallEstimate{call.SizeOf(*call.target).Times(kTextCost), call.SizeOf(*call.target)};
  if (call.target && f == "replace" && args >= 2) return EstimateReplace(call);
  if (call.target && f == "split") return EstimateSplit(call);
  if (call.target && f == "join") return EstimateJoin(call);
  if (call.target && (f == "find" || f == "findAll") && args >= 1) {
    const SizeRange size = call.SizeOf(*call.target);
    const CostRange text = (size + SizeRange::Fixed(1)).Times(kTextCost);
    return CallEstimate{text * call.SizeOf(call.args[0]).Times(kPatternCost), SizeRange{0, size.max}};
  }
  if (args >= 1 && OneOf(f, {"cidr", "isIP", "isCIDR", "ip", "quantity", "isQuantity", "semver", "isSemver"}))
    return CallEstimate{call.SizeOf(call.args[0]).Times(kTextCost), {}};
  if (args >= 1 && f == "ip.isCanonical") return CallEstimate{call.SizeOf(call.args[0]).Times(2 * kTextCost), {}};
  if (args >= 1 && (f == "containsIP" || f == "containsCIDR")) return EstimateContains(call);
  if (args >= 1 && f == "validate")
    return CallEstimate{call.SizeOf(call.args[0]).Times(kTextCost).Times(128 * kPatternCost), {}};
  if (f == "_==_" && args == 2) return EstimateEquality(call);
  return std::nullopt;
}

}  // namespace apimesh::cel
