#include "lib/cel/cost/estimate.h"

#include <cmath>

#include "lib/cel/check/declarations.h"
#include "lib/cel/cost/estimator.h"
#include "lib/cel/cost/sizes.h"

namespace apimesh::cel {
namespace {

using Kind = Node::Kind;
using Path = std::vector<std::string>;

std::uint64_t Plus(std::uint64_t a, std::uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }
std::uint64_t Product(std::uint64_t a, std::uint64_t b) { return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b; }
std::uint64_t Scaled(std::uint64_t a, double factor) {
  const double product = std::ceil(static_cast<double>(a) * factor);
  return product >= 18446744073709551616.0 ? UINT64_MAX : static_cast<std::uint64_t>(product);
}

bool IsScalar(const Type& type) {
  switch (type.kind) {
    case Type::Kind::kBool:
    case Type::Kind::kDouble:
    case Type::Kind::kDuration:
    case Type::Kind::kInt:
    case Type::Kind::kTimestamp:
    case Type::Kind::kUint: return true;
    default: return type.IsOptional() && IsScalar(*type.parameters[0]);
  }
}

class Estimator {
 public:
  explicit Estimator(const SizeEstimator* sizes) : sizes_(sizes) {}

  CostRange Cost(const Node& node) {
    switch (node.kind) {
      case Kind::kIdent: {
        const Local* local = FindLocal(node.name);
        paths_[&node] = local ? local->path : Path{node.name};
        return CostRange::Fixed(1);
      }
      case Kind::kSelect: return Select(node);
      case Kind::kCall: return Call(node);
      case Kind::kList: return List(node);
      case Kind::kMap: return Map(node);
      case Kind::kStruct: {
        CostRange sum = CostRange::Fixed(kStructCost);
        for (const Node* arg : node.args) sum = sum + Cost(*arg);
        return sum;
      }
      case Kind::kComprehension: return IsBind(node) ? Bind(node) : Comprehension(node);
      default: return {};
    }
  }

 private:
  struct Local {
    std::string name;
    Path path;
    std::optional<SizeRange> size;
    std::optional<EntrySizes> entries;
  };

  const Local* FindLocal(std::string_view name) const {
    for (auto local = locals_.rbegin(); local != locals_.rend(); ++local) {
      if (local->name == name) return &*local;
    }
    return nullptr;
  }
  Path PathOf(const Node& node) const {
    if (node.kind == Kind::kIdent) {
      if (const Local* local = FindLocal(node.name)) return local->path;
    }
    const auto found = paths_.find(&node);
    return found == paths_.end() ? Path() : found->second;
  }
  Path Extended(const Node& node, std::string part) const {
    Path path = PathOf(node);
    path.push_back(std::move(part));
    return path;
  }

  std::optional<SizeRange> Size(const Node& node) {
    if (const auto found = computed_.find(&node); found != computed_.end()) return found->second;
    switch (node.kind) {
      case Kind::kLiteral: return SizeRange::Fixed(SizeOf(node.literal));
      case Kind::kList: return SizeRange::Fixed(node.args.size());
      case Kind::kMap: return SizeRange::Fixed(node.args.size() / 2);
      default: break;
    }
    if (sizes_) {
      if (const auto size = sizes_->EstimateSize(PathOf(node), *node.type)) return computed_[&node] = *size;
    }
    if (IsScalar(*node.type)) return SizeRange::Fixed(1);
    const Local* local = node.kind == Kind::kIdent ? FindLocal(node.name) : nullptr;
    return local ? local->size : std::nullopt;
  }
  SizeRange KnownSize(const Node& node) { return Size(node).value_or(SizeRange::Unknown()); }
  std::optional<EntrySizes> Entries(const Node& node) const {
    if (const auto found = entries_.find(&node); found != entries_.end()) return found->second;
    const Local* local = node.kind == Kind::kIdent ? FindLocal(node.name) : nullptr;
    return local ? local->entries : std::nullopt;
  }
  static std::optional<EntrySizes> Union(const std::optional<EntrySizes>& a, const std::optional<EntrySizes>& b) {
    if (!a || !b) return std::nullopt;
    return EntrySizes{a->list, a->key.Union(b->key), a->value.Union(b->value)};
  }

  CostRange Select(const Node& node) {
    const CostRange operand = Cost(*node.args[0]);
    if (node.test_only) return operand;
    paths_[&node] = Extended(*node.args[0], node.name);
    const Type::Kind kind = node.args[0]->type->kind;
    const bool costs = kind == Type::Kind::kMap || kind == Type::Kind::kObject || kind == Type::Kind::kParameter;
    return costs ? operand + CostRange::Fixed(1) : operand;
  }

  CostNode NodeOf(const Node& node) {
    CostNode out{&node, node.type, PathOf(node), Size(node)};
    if (!out.path.empty() && (out.path[0] == "@result" || out.path[0] == "__result__")) out.path.clear();
    return out;
  }

  CostRange Call(const Node& node) {
    if (node.name == "dyn") {
      const CostRange cost = CostRange::Fixed(1) + Cost(*node.args[0]);
      CopySizes(node, *node.args[0]);
      return cost;
    }
    std::vector<CostNode> args;
    std::vector<CostRange> costs;
    for (const Node* arg : node.args) {
      costs.push_back(Cost(*arg));
      args.push_back(NodeOf(*arg));
    }
    CostRange sum;
    CostNode target;
    if (node.target) {
      sum = Cost(*node.target);
      target = NodeOf(*node.target);
    }
    CostRange call{UINT64_MAX, 0};
    std::optional<SizeRange> size;
    for (const Overload* overload : node.overloads) {
      const CallEstimate estimate = CallOf(node, overload->id, node.target ? &target : nullptr, args, costs);
      call = call.Union(estimate.cost);
      if (estimate.result_size) size = size ? size->Union(*estimate.result_size) : *estimate.result_size;
      if (overload->id == "index_list" || overload->id == "index_map") {
        const auto entries = Entries(*node.args[0]);
        size = entries ? std::optional(entries->value) : std::nullopt;
        paths_[&node] = Extended(*node.args[0], overload->id == "index_list" ? "@items" : "@values");
      }
      if (!size) size = Size(node);
    }
    if (size) computed_[&node] = *size;
    return sum + call;
  }

  CallEstimate CallOf(const Node& node, std::string_view id, const CostNode* target, std::span<const CostNode> args,
                      std::span<const CostRange> costs) {
    CostRange sum;
    for (const CostRange& cost : costs) sum = sum + cost;
    const EstimatedCall call{node.function->name, id, target, args, sizes_};
    if (auto estimate = EstimateLibraryCall(call)) return {estimate->cost + sum, estimate->result_size};
    const auto size = [](const CostNode& n) { return n.size.value_or(SizeRange::Unknown()); };
    if (id == "string_format") return {size(*target).Times(kTextCost) + sum, {}};
    if (id == "string_to_bytes")
      return {size(args[0]).Times(kTextCost) + sum, SizeRange{size(args[0]).min, size(args[0]).max * 4}};
    if (id == "bytes_to_string")
      return {size(args[0]).Times(kTextCost) + sum, SizeRange{size(args[0]).min / 4, size(args[0]).max}};
    if (id == "strings_quote")
      return {size(args[0]).Times(kTextCost) + sum, SizeRange{size(args[0]).min + 2, size(args[0]).max * 2 + 2}};
    if (id == "starts_with_string" || id == "ends_with_string") return {size(args[0]).Times(kTextCost) + sum, {}};
    if (id == "in_list") return {size(args[1]).Times(1) + sum, {}};
    if (id == "matches_string") {
      const CostRange text = (size(*target) + SizeRange::Fixed(1)).Times(kTextCost);
      return {text * size(args[0]).Times(kPatternCost) + sum, {}};
    }
    if (id == "contains_string") return {size(*target).Times(kTextCost) * size(args[0]).Times(kTextCost) + sum, {}};
    if (id == "logical_or" || id == "logical_and") return {{costs[0].min, (costs[0] + costs[1]).max}, {}};
    if (id == "conditional") {
      if (const auto both = Union(Entries(*node.args[1]), Entries(*node.args[2]))) entries_[&node] = *both;
      return {costs[0] + costs[1].Union(costs[2]), size(args[1]).Union(size(args[2]))};
    }
    if (id == "add_string" || id == "add_bytes" || id == "add_list") {
      const SizeRange result = size(args[0]) + size(args[1]);
      if (const auto both = Union(Entries(*node.args[0]), Entries(*node.args[1]))) entries_[&node] = *both;
      return {(id == "add_list" ? CostRange::Fixed(1) : result.Times(kTextCost)) + sum, result};
    }
    const bool ordered =
        (id.ends_with("_string") || id.ends_with("_bytes")) && (id.starts_with("less_") || id.starts_with("greater_"));
    if (ordered || id == "equals" || id == "not_equals") {
      const std::uint64_t most = std::min(size(args[0]).max, size(args[1]).max);
      return {CostRange{most > 0 ? std::uint64_t{1} : 0, most}.Times(kTextCost) + sum, {}};
    }
    return {CostRange::Fixed(1) + sum, {}};
  }

  CostRange List(const Node& node) {
    CostRange sum;
    SizeRange item{node.args.empty() ? 0 : UINT64_MAX, 0};
    for (const Node* arg : node.args) {
      sum = sum + Cost(*arg);
      item = item.Union(KnownSize(*arg));
    }
    entries_[&node] = {true, SizeRange::Fixed(1), item};
    return sum + CostRange::Fixed(kListCost);
  }

  CostRange Map(const Node& node) {
    CostRange sum;
    SizeRange key{node.args.empty() ? 0 : UINT64_MAX, 0}, value = key;
    for (std::size_t i = 0; i < node.args.size(); i += 2) {
      sum = sum + Cost(*node.args[i]) + Cost(*node.args[i + 1]);
      key = key.Union(KnownSize(*node.args[i]));
      value = value.Union(KnownSize(*node.args[i + 1]));
    }
    entries_[&node] = {false, key, value};
    return sum + CostRange::Fixed(kMapCost);
  }

  static bool IsBind(const Node& node) {
    const Node &range = *node.args[Node::kRange], &condition = *node.args[Node::kCondition];
    return range.kind == Kind::kList && range.args.empty() && condition.kind == Kind::kLiteral &&
           condition.literal.IsFalse();
  }
  CostRange Bind(const Node& node) {
    CostRange sum = Cost(*node.args[Node::kRange]) + Cost(*node.args[Node::kInit]);
    PushValue(node.accumulator, *node.args[Node::kInit]);
    sum = sum + Cost(*node.args[Node::kResult]);
    CopySizes(node, *node.args[Node::kResult]);
    locals_.pop_back();
    return sum;
  }

  void PushValue(const std::string& name, const Node& value) {
    locals_.push_back({name, PathOf(value), Size(value), Entries(value)});
  }
  void PushElement(const std::string& name, const Node& range, bool key) {
    const auto entries = Entries(range);
    const bool list = entries ? entries->list : range.type->Is(Type::Kind::kList);
    const char* part = key ? (list ? "@indices" : "@keys") : (list ? "@items" : "@values");
    Local local{name, Extended(range, part), std::nullopt, std::nullopt};
    if (entries) local.size = key ? entries->key : entries->value;
    locals_.push_back(std::move(local));
  }

  CostRange Comprehension(const Node& node) {
    const Node& range = *node.args[Node::kRange];
    const Node& init = *node.args[Node::kInit];
    CostRange sum = Cost(range) + Cost(init);
    PushValue(node.accumulator, init);
    const std::size_t outer = locals_.size();
    if (!node.variable2.empty()) {
      PushElement(node.variable, range, true);
      PushElement(node.variable2, range, false);
    } else {
      const auto entries = Entries(range);
      const bool list = entries ? entries->list : range.type->Is(Type::Kind::kList);
      PushElement(node.variable, range, !list);
    }
    const CostRange condition = Cost(*node.args[Node::kCondition]);
    const CostRange step = Cost(*node.args[Node::kStep]);
    const auto step_entries = Entries(*node.args[Node::kStep]);
    locals_.resize(outer);
    sum = sum + Cost(*node.args[Node::kResult]);
    locals_.resize(outer - 1);
    const SizeRange count = KnownSize(range);
    if (init.kind == Kind::kLiteral) {
      if (const auto size = Size(init)) computed_[&node] = *size;
    } else if (init.kind == Kind::kList || init.kind == Kind::kMap) {
      computed_[&node] = count;
      if (step_entries) entries_[&node] = *step_entries;
    }
    return sum + count * (step + condition);
  }

  void CopySizes(const Node& to, const Node& from) {
    if (const auto size = Size(from)) computed_[&to] = *size;
    if (const auto entries = Entries(from)) entries_[&to] = *entries;
  }

  const SizeEstimator* sizes_;
  std::vector<Local> locals_;
  std::unordered_map<const Node*, Path> paths_;
  std::unordered_map<const Node*, SizeRange> computed_;
  std::unordered_map<const Node*, EntrySizes> entries_;
};

}  // namespace

CostRange CostRange::operator+(const CostRange& other) const { return {Plus(min, other.min), Plus(max, other.max)}; }
CostRange CostRange::operator*(const CostRange& other) const {
  return {Product(min, other.min), Product(max, other.max)};
}
CostRange CostRange::Times(double factor) const { return {Scaled(min, factor), Scaled(max, factor)}; }
CostRange CostRange::Union(const CostRange& other) const {
  return {std::min(min, other.min), std::max(max, other.max)};
}

CostRange EstimateCost(const Ast& ast, const SizeEstimator* sizes) { return Estimator(sizes).Cost(*ast.root); }

}  // namespace apimesh::cel
