#pragma once

#include <functional>

#include "lib/cel/value/value.h"

namespace apimesh::cel {

// These require a list.
std::size_t ListSize(const Value& list);
Value ListAt(const Value& list, std::size_t index, Arena& arena);
/// a + b. Lists of a schema with the list type "set" or "map" are merged as the schema says.
Value Concat(const Value& a, const Value& b, Arena& arena);
/// Whether `item` equals an element. An element that can't be decoded is an error unless another one is equal.
Value ListContains(const Value& list, const Value& item, Arena& arena);

// These require a map.
std::size_t MapSize(const Value& map);
/// The value of `key`; numbers are equal across their types. An entry that can't be decoded is an error value.
std::optional<Value> MapFind(const Value& map, const Value& key, Arena& arena);
/// An error if the value cannot be the key of a map: kube-apiserver has none for bytes and versions.
Value InvalidKey(const Value& key, Arena& arena);
/// Calls `visit` with each key and value until it returns false.
void ForEachEntry(const Value& map, Arena& arena,
                  const std::function<bool(const Value& key, const Value& value)>& visit);

/// Builds a list or a map in an arena.
class ListBuilder {
 public:
  explicit ListBuilder(Arena& arena, std::size_t capacity = 0);
  /// Extends a list in place.
  ListBuilder(Arena& arena, ListData* list) : arena_(arena), list_(list) {}
  void Add(const Value& item);
  std::size_t Size() const { return list_->size; }
  Value Build() const { return Value::List(list_); }

 private:
  Arena& arena_;
  ListData* list_;
};
class MapBuilder {
 public:
  explicit MapBuilder(Arena& arena, std::size_t capacity = 0);
  /// Extends a map in place.
  MapBuilder(Arena& arena, MapData* map) : arena_(arena), map_(map) {}
  /// A later entry replaces an earlier one with the same key.
  void Set(const Value& key, const Value& value);
  /// Returns false if there is an entry with the key or an equal number.
  bool Insert(const Value& key, const Value& value);
  void Erase(const Value& key);
  const MapData* Data() const { return map_; }
  Value Build() const { return Value::Map(map_); }

 private:
  void Append(const Value& key, const Value& value);

  Arena& arena_;
  MapData* map_;
};

}  // namespace apimesh::cel
