#include "lib/cel/cost/call_cost.h"

#include <unordered_map>

#include "lib/cel/cost/sizes.h"
#include "lib/cel/library/format.h"
#include "lib/cel/value/collections.h"
#include "lib/cel/value/text.h"

namespace apimesh::cel {
namespace {

using Args = std::span<const Value>;
using Kind = Value::Kind;

std::uint64_t One(Args, const Value&, Arena&) { return 1; }
std::uint64_t AuthorizationCheck(Args, const Value&, Arena&) { return 350'000; }

std::uint64_t FirstText(Args args, const Value&, Arena&) { return Traversal(SizeOf(args[0])); }
std::uint64_t FirstTextTwice(Args args, const Value&, Arena&) {
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(SizeOf(args[0])) * 2 * kTextCost));
}
std::uint64_t ResultTwice(Args, const Value& result, Arena&) {
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(SizeOf(result)) * 2 * kTextCost));
}
std::uint64_t BothTexts(Args args, const Value&, Arena&) { return Traversal(SizeOf(args[0]) + SizeOf(args[1])); }
std::uint64_t ShorterText(Args args, const Value&, Arena&) {
  return Traversal(std::min(SizeOf(args[0]), SizeOf(args[1])));
}
std::uint64_t SecondSize(Args args, const Value&, Arena&) { return SizeOf(args[1]); }
std::uint64_t TextTimesText(Args args, const Value&, Arena&) {
  return Traversal(SizeOf(args[0])) * Traversal(SizeOf(args[1]));
}
// One is added to the length, so that an expensive pattern has a cost for an empty text, too.
std::uint64_t PatternOn(std::uint64_t text, std::uint64_t pattern) {
  return static_cast<std::uint64_t>(std::ceil((1.0 + static_cast<double>(text)) * kTextCost)) *
         Traversal(pattern, kPatternCost);
}
std::uint64_t Pattern(Args args, const Value&, Arena&) { return PatternOn(SizeOf(args[0]), SizeOf(args[1])); }
std::uint64_t Validate(Args args, const Value&, Arena&) {
  const auto* format = args[0].Is(Kind::kOpaque) ? dynamic_cast<const NamedFormat*>(&args[0].AsOpaque()) : nullptr;
  return format ? PatternOn(SizeOf(args[1]), format->PatternSize()) : 1;
}

// A selector has a fixed cost, the cost of reading it, and one for each requirement that fits into it.
std::uint64_t Selector(Args args, const Value&, Arena&) {
  const std::uint64_t size = SizeOf(args[1]);
  return kListCost + Traversal(size) + (kListCost + kStructCost) * Traversal(size, 0.5);
}

std::uint64_t TraverseAll(const Value& value, Arena& arena) {
  if (value.Is(Kind::kString) || value.Is(Kind::kBytes))
    return static_cast<std::uint64_t>(static_cast<double>(value.AsString().size()) * kTextCost);
  std::uint64_t cost = 0;
  if (value.IsList()) {
    for (std::size_t i = 0; i < ListSize(value); ++i) cost += TraverseAll(ListAt(value, i, arena), arena);
    return cost;
  }
  if (!value.IsMap()) return 1;
  ForEachEntry(value, arena, [&](const Value& key, const Value& entry) {
    cost += TraverseAll(key, arena) + TraverseAll(entry, arena);
    return true;
  });
  return cost;
}
std::uint64_t Traverse(Args args, const Value&, Arena& arena) { return TraverseAll(args[0], arena); }

std::uint64_t ContainsIp(Args args, const Value&, Arena&) { return Traversal(2 * SizeOf(args[0])); }
std::uint64_t ContainsIpText(Args args, const Value&, Arena&) {
  return Traversal(2 * SizeOf(args[0])) + Traversal(SizeOf(args[1]));
}
std::uint64_t ContainsCidr(Args args, const Value&, Arena&) {
  return Traversal(2 * SizeOf(args[0])) + Traversal(SizeOf(args[0])) + 1;
}
std::uint64_t ContainsCidrText(Args args, const Value& result, Arena& arena) {
  return ContainsCidr(args, result, arena) + Traversal(SizeOf(args[1]));
}

std::uint64_t NewList(double factor, std::uint64_t size) {
  // A negative factor makes the number wrap around, as in kube-apiserver; it comes with an error.
  const double product = static_cast<double>(size) * factor;
  const auto cost = product < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(std::max(product, -1e18)))
                                : static_cast<std::uint64_t>(std::min(product, 1e19));
  return cost + 1 + kListCost;
}
std::uint64_t ResultList(Args, const Value& result, Arena&) { return NewList(1, SizeOf(result)); }
std::uint64_t Flatten(Args args, const Value&, Arena&) {
  const double depth = args.size() == 2 && args[1].Is(Kind::kInt) ? static_cast<double>(args[1].AsInt()) : 1;
  return NewList(depth, SizeOf(args[0]));
}
std::uint64_t CompareItems(const Value& list, Arena& arena) {
  const std::uint64_t size = SizeOf(list);
  if (size == 0 || !list.IsList()) return NewList(2, 0);
  const Value first = ListAt(list, 0, arena);
  const bool text = first.Is(Kind::kString) || first.Is(Kind::kBytes);
  return NewList(text ? 2 + kTextCost : 2, size * size);
}
std::uint64_t CompareFirst(Args args, const Value&, Arena& arena) { return CompareItems(args[0], arena); }
std::uint64_t CompareSecond(Args args, const Value&, Arena& arena) { return CompareItems(args[1], arena); }
std::uint64_t Sets(Args args, const Value&, Arena&) { return 1 + SizeOf(args[0]) * SizeOf(args[1]); }
std::uint64_t SetsTwice(Args args, const Value&, Arena&) { return 1 + 2 * SizeOf(args[0]) * SizeOf(args[1]); }

using Table = std::unordered_map<std::string_view, CallCost>;

void AddAll(Table& table, std::initializer_list<std::string_view> names, CallCost cost) {
  for (const std::string_view name : names) table.emplace(name, cost);
}

// Costs that depend on the overload come before those that depend on the function.
const Table& OverloadsFirst() {
  static const Table& table = *[] {
    auto* out = new Table();
    AddAll(*out, {"list_slice", "lists_range", "list_reverse"}, ResultList);
    AddAll(*out, {"list_flatten", "list_flatten_int"}, Flatten);
    AddAll(*out, {"list_distinct"}, CompareFirst);
    AddAll(
        *out,
        {"list_int_sort", "list_uint_sort", "list_double_sort", "list_bool_sort", "list_google.protobuf.Duration_sort",
         "list_google.protobuf.Timestamp_sort", "list_string_sort", "list_bytes_sort"},
        CompareFirst);
    AddAll(*out,
           {"list_int_sortByAssociatedKeys", "list_uint_sortByAssociatedKeys", "list_double_sortByAssociatedKeys",
            "list_bool_sortByAssociatedKeys", "list_google.protobuf.Duration_sortByAssociatedKeys",
            "list_google.protobuf.Timestamp_sortByAssociatedKeys", "list_string_sortByAssociatedKeys",
            "list_bytes_sortByAssociatedKeys"},
           CompareSecond);
    AddAll(*out, {"list_sets_contains_list", "list_sets_intersects_list"}, Sets);
    AddAll(*out, {"list_sets_equivalent_list"}, SetsTwice);
    AddAll(*out, {"cidr_ip"}, One);
    AddAll(*out, {"cidr_contains_ip_string"}, ContainsIpText);
    AddAll(*out, {"cidr_contains_cidr_string"}, ContainsCidrText);
    return out;
  }();
  return table;
}

const Table& Functions() {
  static const Table& table = *[] {
    auto* out = new Table();
    AddAll(*out, {"check"}, AuthorizationCheck);
    AddAll(*out, {"fieldSelector", "labelSelector"}, Selector);
    AddAll(*out, {"isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"}, Traverse);
    AddAll(*out,
           {"url", "lowerAscii", "upperAscii", "substring", "trim", "jsonpatch.escapeKey", "cidr", "isIP", "isCIDR",
            "ip", "quantity", "isQuantity", "semver", "isSemver"},
           FirstText);
    AddAll(*out, {"replace", "split", "ip.isCanonical"}, FirstTextTwice);
    AddAll(*out, {"join"}, ResultTwice);
    AddAll(*out, {"find", "findAll"}, Pattern);
    AddAll(*out, {"containsIP"}, ContainsIp);
    AddAll(*out, {"containsCIDR"}, ContainsCidr);
    AddAll(*out, {"validate"}, Validate);
    return out;
  }();
  return table;
}

const Table& OverloadsLast() {
  static const Table& table = *[] {
    auto* out = new Table();
    AddAll(*out,
           {"starts_with_string", "ends_with_string", "string_to_bytes", "bytes_to_string", "strings_quote",
            "string_format"},
           FirstText);
    AddAll(*out, {"in_list"}, SecondSize);
    AddAll(*out,
           {"less_string", "greater_string", "less_equals_string", "greater_equals_string", "less_bytes",
            "greater_bytes", "less_equals_bytes", "greater_equals_bytes"},
           ShorterText);
    AddAll(*out, {"add_string", "add_bytes"}, BothTexts);
    AddAll(*out, {"matches_string"}, Pattern);
    AddAll(*out, {"contains_string"}, TextTimesText);
    return out;
  }();
  return table;
}

}  // namespace

std::uint64_t SizeOf(const Value& value) {
  switch (value.GetKind()) {
    case Kind::kString: return CodePoints(value.AsString());
    case Kind::kBytes: return value.AsString().size();
    case Kind::kList:
    case Kind::kJsonList: return ListSize(value);
    case Kind::kMap:
    case Kind::kJsonMap:
    case Kind::kDynamicMap: return MapSize(value);
    case Kind::kOptional: return value.AsOptional() ? SizeOf(*value.AsOptional()) : 1;
    case Kind::kOpaque: return value.AsOpaque().Size();
    default: return 1;
  }
}

CallCost CostOfCall(std::string_view function, std::string_view overload) {
  if (const auto found = OverloadsFirst().find(overload); found != OverloadsFirst().end()) return found->second;
  if (const auto found = Functions().find(function); found != Functions().end()) return found->second;
  const auto found = OverloadsLast().find(overload);
  return found == OverloadsLast().end() ? One : found->second;
}

}  // namespace apimesh::cel
