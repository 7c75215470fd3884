#include "lib/schema/schema.h"

#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <map>
#include <unordered_map>

#include <boost/json/serialize.hpp>

#include "lib/base/hash/seeded_hash.h"

namespace apimesh::schema {

namespace {

constexpr std::uint32_t kFree = 0xffff'ffff;

/// Objects with more fields than this come from a CustomResourceDefinition, whose author may choose colliding names.
/// They use a seeded hash.
constexpr std::size_t kManyFields = 128;

/// Hashes the length and three characters. The names of one object rarely agree in all of these, and hashing more
/// characters would cost more than an additional probe.
std::size_t HashOf(std::string_view name, std::size_t fields) {
  if (name.empty()) return 0;
  if (fields > kManyFields) return SeededHash()(name);
  const auto at = [name](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(name[i])); };
  return name.size() * 5 + at(0) * 7 + at(name.size() / 2) * 31 + at(name.size() - 1) * 131;
}

/// Builds an open-addressing table of which at least half is free, so that lookups of absent names end quickly.
std::vector<std::uint32_t> HashTable(const std::vector<Field>& fields) {
  if (fields.empty()) return {};
  std::vector<std::uint32_t> table(std::bit_ceil(fields.size() * 2), kFree);
  for (std::uint32_t index = 0; index < fields.size(); ++index) {
    std::size_t place = HashOf(fields[index].name, fields.size()) & (table.size() - 1);
    while (table[place] != kFree) place = (place + 1) & (table.size() - 1);
    table[place] = index;
  }
  return table;
}

}  // namespace

const Field* Node::FindField(std::string_view json_name) const {
  if (by_name.empty()) return nullptr;
  const std::size_t mask = by_name.size() - 1;
  for (std::size_t place = HashOf(json_name, fields.size()) & mask; by_name[place] != kFree;
       place = (place + 1) & mask) {
    const Field& field = fields[by_name[place]];
    if (field.name == json_name) return &field;
  }
  return nullptr;
}

const Field* Node::FindNumber(std::uint32_t number) const {
  const auto it =
      std::lower_bound(by_number.begin(), by_number.end(), number,
                       [this](std::uint32_t index, std::uint32_t wanted) { return fields[index].number < wanted; });
  return it != by_number.end() && fields[*it].number == number ? &fields[*it] : nullptr;
}

namespace {

/// Returns the field numbers that lead to a field, outermost first.
std::array<std::uint32_t, 4> WirePath(const Field& field) {
  std::array<std::uint32_t, 4> path{};
  std::size_t depth = 0;
  for (std::uint32_t rest = field.inline_path; rest != 0; rest >>= 8) path[depth++] = rest & 0xff;
  path[depth] = field.number;
  return path;
}

}  // namespace

struct Schema::Storage {
  std::deque<Node> nodes;  // addresses stay valid
  std::unordered_map<std::string_view, const Node*> by_name;
  std::map<meta::Gvk, const Node*> by_kind;
  std::unordered_map<const Node*, std::vector<meta::Gvk>> kinds;
};

Schema::Schema() : storage_(std::make_unique<Storage>()) {}
Schema::~Schema() = default;
Schema::Schema(Schema&&) noexcept = default;
Schema& Schema::operator=(Schema&&) noexcept = default;

const Node* Schema::Find(std::string_view definition) const {
  const auto it = storage_->by_name.find(definition);
  return it == storage_->by_name.end() ? nullptr : it->second;
}

const Node* Schema::FindKind(const meta::Gvk& kind) const {
  const auto it = storage_->by_kind.find(kind);
  return it == storage_->by_kind.end() ? nullptr : it->second;
}

const std::vector<meta::Gvk>& Schema::KindsOf(const Node& node) const {
  static const std::vector<meta::Gvk> none;
  const auto it = storage_->kinds.find(&node);
  return it == storage_->kinds.end() ? none : it->second;
}

Node* Schema::Add(Node node) { return &storage_->nodes.emplace_back(std::move(node)); }

void Schema::AddKind(const meta::Gvk& kind, const Node* node) {
  storage_->by_kind[kind] = node;
  storage_->kinds[node].push_back(kind);
}

void Schema::Seal() {
  for (Node& node : storage_->nodes) {
    if (!node.name.empty()) storage_->by_name.emplace(node.name, &node);
    node.by_name = HashTable(node.fields);
    for (Field& field : node.fields) {
      if (field.default_value) field.default_bytes = boost::json::serialize(*field.default_value).size();
    }
    node.by_number.clear();
    node.wire_order.clear();
    for (std::uint32_t index = 0; index < node.fields.size(); ++index) {
      if (node.fields[index].number != 0) node.wire_order.push_back(index);
      // Fields of embedded messages have field numbers of that message, which are not unique here.
      if (node.fields[index].number != 0 && node.fields[index].inline_path == 0) node.by_number.push_back(index);
    }
    std::sort(node.wire_order.begin(), node.wire_order.end(), [&node](std::uint32_t a, std::uint32_t b) {
      return WirePath(node.fields[a]) < WirePath(node.fields[b]);
    });
    std::sort(node.by_number.begin(), node.by_number.end(),
              [&node](std::uint32_t a, std::uint32_t b) { return node.fields[a].number < node.fields[b].number; });
  }
}

}  // namespace apimesh::schema
