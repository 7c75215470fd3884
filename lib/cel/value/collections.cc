#include "lib/cel/value/collections.h"

#include "lib/cel/types/shape.h"
#include "lib/cel/value/compare.h"
#include "lib/cel/value/text.h"

namespace apimesh::cel {
namespace {

using Kind = Value::Kind;

// The keys of maps are equal only if their types are: {1: 'a', 1u: 'b'} has two entries.
bool SameKey(const Value& a, const Value& b, Arena& arena) {
  return a.GetKind() == b.GetKind() && Equal(a, b, arena).IsTrue();
}

const Shape* ElementShape(const Value& list) { return list.GetShape() ? list.GetShape()->element.get() : nullptr; }

// Whether two elements of a list of the type "map" have the same keys.
bool SameListKeys(const Value& a, const Value& b, const Shape& shape, Arena& arena) {
  for (const std::string& name : shape.list_keys) {
    const auto left = a.IsMap() ? MapFind(a, Value::String(name), arena) : std::nullopt;
    const auto right = b.IsMap() ? MapFind(b, Value::String(name), arena) : std::nullopt;
    if (left.has_value() != right.has_value()) return false;
    if (left && !Equal(*left, *right, arena).IsTrue()) return false;
  }
  return true;
}

Value MergeLists(const Value& a, const Value& b, const Shape& shape, Arena& arena) {
  const std::size_t size = ListSize(a) + ListSize(b);
  Value* items = arena.NewArray<Value>(size);
  std::size_t count = 0;
  for (; count < ListSize(a); ++count) items[count] = ListAt(a, count, arena);
  for (std::size_t i = 0; i < ListSize(b); ++i) {
    const Value item = ListAt(b, i, arena);
    std::size_t at = 0;
    for (; at < count; ++at) {
      if (shape.list_type == Shape::ListType::kSet ? Equal(items[at], item, arena).IsTrue()
                                                   : SameListKeys(items[at], item, shape, arena))
        break;
    }
    if (at == count || shape.list_type == Shape::ListType::kMap) items[at] = item;
    if (at == count) ++count;
  }
  return Value::List(arena.New<ListData>(ListData{items, count, count}));
}

std::optional<Value> FindInJson(const Value& map, std::string_view key, Arena& arena) {
  const Shape* shape = map.GetShape();
  const boost::json::object& object = map.AsJsonObject();
  if (!shape) {
    const boost::json::value* found = object.if_contains(key);
    return found ? std::optional(Value::FromJson(*found, arena)) : std::nullopt;
  }
  if (shape->kind == Shape::Kind::kMap) {
    const boost::json::value* found = object.if_contains(key);
    return found ? std::optional(Value::FromJson(*found, shape->element.get(), arena)) : std::nullopt;
  }
  const Shape* field = nullptr;
  const boost::json::value* found = nullptr;
  if (const auto known = shape->fields.find(key); known != shape->fields.end()) {
    found = object.if_contains(known->second.json_name);
    field = known->second.shape.get();
  } else if (const auto name = UnescapeName(key)) {
    // A reserved word need not be escaped after a dot.
    const auto by_name = shape->fields_by_json_name.find(*name);
    if (by_name == shape->fields_by_json_name.end() || by_name->second->kind == Shape::Kind::kHidden)
      return std::nullopt;
    found = object.if_contains(*name);
    field = by_name->second.get();
  }
  if (!found || found->is_null()) return std::nullopt;  // null is like absent
  return Value::FromJson(*found, field, arena);
}

// The same number as an int or a uint, because the other number types find an entry too.
std::optional<Value> OtherNumber(const Value& key, Kind wanted) {
  if (key.Is(Kind::kDouble)) {
    const double d = key.AsDouble();
    if (wanted == Kind::kInt && d > -9223372036854775808.0 && d < 9223372036854775808.0 &&
        static_cast<double>(static_cast<std::int64_t>(d)) == d)
      return Value::Int(static_cast<std::int64_t>(d));
    if (wanted == Kind::kUint && d >= 0 && d < 18446744073709551616.0 &&
        static_cast<double>(static_cast<std::uint64_t>(d)) == d)
      return Value::Uint(static_cast<std::uint64_t>(d));
  }
  if (key.Is(Kind::kInt) && wanted == Kind::kUint && key.AsInt() >= 0) return Value::Uint(key.AsUint());
  if (key.Is(Kind::kUint) && wanted == Kind::kInt && key.AsUint() <= INT64_MAX) return Value::Int(key.AsInt());
  return std::nullopt;
}

constexpr std::size_t kIndexed = 16;  // maps from this size on have an index

std::size_t HashKey(const Value& key) {
  if (key.Is(Kind::kString) || key.Is(Kind::kBytes)) return std::hash<std::string_view>()(key.AsString());
  // Other kinds of keys are rare; those without a number share a bucket.
  const bool plain = key.Is(Kind::kInt) || key.Is(Kind::kUint) || key.Is(Kind::kBool) || key.Is(Kind::kDuration);
  return plain ? static_cast<std::size_t>(key.AsUint() * 0x9e3779b97f4a7c15) >> 16 : 0;
}

void AddToIndex(MapData& map, std::size_t number) {
  std::size_t at = HashKey(map.entries[number].key) & (map.index_size - 1);
  while (map.index[at]) at = (at + 1) & (map.index_size - 1);
  map.index[at] = static_cast<std::uint32_t>(number + 1);
}

MapEntry* FindEntry(const MapData& map, const Value& key, Arena& arena) {
  if (!map.index) {
    for (std::size_t i = 0; i < map.size; ++i) {
      if (SameKey(map.entries[i].key, key, arena)) return &map.entries[i];
    }
    return nullptr;
  }
  for (std::size_t at = HashKey(key) & (map.index_size - 1); map.index[at]; at = (at + 1) & (map.index_size - 1)) {
    MapEntry* entry = &map.entries[map.index[at] - 1];
    if (SameKey(entry->key, key, arena)) return entry;
  }
  return nullptr;
}

const MapEntry* FindInData(const MapData& map, const Value& key, Arena& arena) {
  if (const MapEntry* entry = FindEntry(map, key, arena)) return entry;
  if (!key.IsNumber()) return nullptr;
  for (const Kind kind : {Kind::kInt, Kind::kUint}) {
    const auto other = key.Is(kind) ? std::nullopt : OtherNumber(key, kind);
    if (!other) continue;
    if (const MapEntry* entry = FindEntry(map, *other, arena)) return entry;
  }
  return nullptr;
}

}  // namespace

std::size_t ListSize(const Value& list) {
  return list.Is(Kind::kList) ? list.AsListData()->size : list.AsJsonArray().size();
}

Value ListAt(const Value& list, std::size_t index, Arena& arena) {
  if (list.Is(Kind::kList)) return list.AsListData()->items[index];
  return Value::FromJson(list.AsJsonArray()[index], ElementShape(list), arena);
}

Value Concat(const Value& a, const Value& b, Arena& arena) {
  if (a.Is(Kind::kJsonList) && a.GetShape() && a.GetShape()->list_type != Shape::ListType::kAtomic)
    return MergeLists(a, b, *a.GetShape(), arena);
  if (ListSize(a) == 0) return b;
  if (ListSize(b) == 0) return a;
  Value* items = arena.NewArray<Value>(ListSize(a) + ListSize(b));
  std::size_t count = 0;
  for (std::size_t i = 0; i < ListSize(a); ++i) items[count++] = ListAt(a, i, arena);
  for (std::size_t i = 0; i < ListSize(b); ++i) items[count++] = ListAt(b, i, arena);
  return Value::List(arena.New<ListData>(ListData{items, count, count}));
}

Value ListContains(const Value& list, const Value& item, Arena& arena) {
  const bool shaped = list.Is(Kind::kJsonList) && list.GetShape();
  std::optional<Value> error;
  for (std::size_t i = 0; i < ListSize(list); ++i) {
    const Value element = ListAt(list, i, arena);
    const Value equal = shaped ? Equal(element, item, arena) : Equal(item, element, arena);
    if (equal.IsTrue()) return equal;
    if (equal.IsError() && shaped) error = equal;
  }
  return error.value_or(Value::Bool(false));
}

Value InvalidKey(const Value& key, Arena& arena) {
  const bool version = key.Is(Kind::kOpaque) && key.AsOpaque().TypeName() == "kubernetes.Semver";
  if (!version && !key.Is(Kind::kBytes)) return Value();
  return Errorf(arena, "internal error: runtime error: hash of unhashable type {}",
                version ? "cel.Semver" : "types.Bytes");
}

std::size_t MapSize(const Value& map) {
  if (map.Is(Kind::kJsonMap)) return map.AsJsonObject().size();
  return map.Is(Kind::kDynamicMap) ? map.AsDynamic()->Size() : map.AsMapData()->size;
}

std::optional<Value> MapFind(const Value& map, const Value& key, Arena& arena) {
  if (map.Is(Kind::kMap)) {
    const MapEntry* entry = FindInData(*map.AsMapData(), key, arena);
    return entry ? std::optional(entry->value) : std::nullopt;
  }
  if (!key.Is(Kind::kString)) {
    if (map.Is(Kind::kJsonMap) && map.GetShape()) return NoSuchOverload();
    return std::nullopt;
  }
  return map.Is(Kind::kDynamicMap) ? map.AsDynamic()->Find(key.AsString()) : FindInJson(map, key.AsString(), arena);
}

void ForEachEntry(const Value& map, Arena& arena,
                  const std::function<bool(const Value& key, const Value& value)>& visit) {
  if (map.Is(Kind::kMap)) {
    for (std::size_t i = 0; i < map.AsMapData()->size; ++i) {
      const MapEntry entry = map.AsMapData()->entries[i];
      if (!visit(entry.key, entry.value)) return;
    }
    return;
  }
  if (!map.Is(Kind::kJsonMap)) return;
  const Shape* shape = map.GetShape();
  if (shape && shape->kind == Shape::Kind::kObject) {
    for (const auto& [name, field] : shape->fields) {
      const boost::json::value* found = map.AsJsonObject().if_contains(field.json_name);
      if (!found) continue;
      if (!visit(Value::String(name), Value::FromJson(*found, field.shape.get(), arena))) return;
    }
    return;
  }
  for (const auto& [name, value] : map.AsJsonObject()) {
    if (!visit(Value::String(name), Value::FromJson(value, shape ? shape->element.get() : nullptr, arena))) return;
  }
}

ListBuilder::ListBuilder(Arena& arena, std::size_t capacity)
    : arena_(arena), list_(arena.New<ListData>(ListData{arena.NewArray<Value>(capacity), 0, capacity})) {}

void ListBuilder::Add(const Value& item) {
  if (list_->size == list_->capacity) {
    const std::size_t capacity = std::max<std::size_t>(8, 2 * list_->capacity);
    Value* items = arena_.NewArray<Value>(capacity);
    std::copy(list_->items, list_->items + list_->size, items);
    list_->items = items;
    list_->capacity = capacity;
  }
  const_cast<Value*>(list_->items)[list_->size++] = item;
}

MapBuilder::MapBuilder(Arena& arena, std::size_t capacity) : arena_(arena), map_(arena.New<MapData>()) {
  map_->entries = arena.NewArray<MapEntry>(capacity);
  map_->capacity = capacity;
}

void MapBuilder::Set(const Value& key, const Value& value) {
  if (MapEntry* entry = FindEntry(*map_, key, arena_)) {
    entry->value = value;
  } else {
    Append(key, value);
  }
}

bool MapBuilder::Insert(const Value& key, const Value& value) {
  if (FindInData(*map_, key, arena_)) return false;
  Append(key, value);
  return true;
}

void MapBuilder::Append(const Value& key, const Value& value) {
  if (map_->size == map_->capacity) {
    const std::size_t capacity = std::max<std::size_t>(8, 2 * map_->capacity);
    MapEntry* entries = arena_.NewArray<MapEntry>(capacity);
    std::copy(map_->entries, map_->entries + map_->size, entries);
    map_->entries = entries;
    map_->capacity = capacity;
  }
  map_->entries[map_->size++] = {key, value};
  if (map_->size < kIndexed) return;
  if (map_->index_size >= 2 * map_->size) return AddToIndex(*map_, map_->size - 1);
  map_->index_size = std::max(4 * kIndexed, 2 * map_->index_size);
  map_->index = arena_.NewArray<std::uint32_t>(map_->index_size);
  for (std::size_t i = 0; i < map_->size; ++i) AddToIndex(*map_, i);
}

// Only the few entries of a literal are erased.
void MapBuilder::Erase(const Value& key) {
  MapEntry* entry = FindEntry(*map_, key, arena_);
  if (!entry) return;
  std::copy(entry + 1, map_->entries + map_->size, entry);
  --map_->size;
  if (!map_->index) return;
  std::fill_n(map_->index, map_->index_size, 0);
  for (std::size_t i = 0; i < map_->size; ++i) AddToIndex(*map_, i);
}

}  // namespace apimesh::cel
