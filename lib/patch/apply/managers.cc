#include "lib/patch/apply/managers.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "lib/meta/errors/field_error.h"
#include "lib/meta/time.h"

namespace apimesh::patch {
namespace {

namespace json = meta::json;

constexpr std::size_t kMaxUpdaters = 10;
constexpr std::string_view kAncient = "ancient-changes";

std::int64_t Seconds(const std::string& time) {
  const std::optional<WallTime> parsed = meta::ParseTime(time);
  return parsed ? std::chrono::floor<std::chrono::seconds>(parsed->time_since_epoch()).count() : 0;
}

auto Identity(const Owner& owner) {
  return std::make_tuple(std::string_view(owner.manager), owner.applied, std::string_view(owner.subresource),
                         owner.applied ? std::string_view() : std::string_view(owner.api_version));
}

}  // namespace

bool Owner::SameIdentity(const Owner& other) const { return Identity(*this) == Identity(other); }

std::string Owner::ToString() const {
  std::string out = meta::Quoted(manager);
  if (!subresource.empty()) out += fmt::format(" with subresource {}", meta::Quoted(subresource));
  if (!applied) out += fmt::format(" using {}", api_version);
  return out;
}

std::string Owners::Decode(const json::value* entries, TextArena& arena) {
  owners_.clear();
  if (!entries || !entries->is_array()) return "";
  std::size_t index = 0;
  for (const json::value& one : entries->get_array()) {
    if (!one.is_object()) return "an entry is no object";
    const json::object& entry = one.get_object();
    Owner owner;
    const std::string_view operation = meta::FindString(entry, "operation");
    if (operation != "Apply" && operation != "Update") return "operation must be `Apply` or `Update`";
    owner.applied = operation == "Apply";
    owner.api_version = meta::FindString(entry, "apiVersion");
    if (owner.api_version.empty()) return "apiVersion must not be empty";
    const std::string_view type = meta::FindString(entry, "fieldsType");
    if (type.empty()) return fmt::format("missing fieldsType in managed fields entry {}", index);
    if (type != "FieldsV1")
      return fmt::format("invalid fieldsType {} in managed fields entry {}", meta::Quoted(type), index);
    owner.manager = meta::FindString(entry, "manager");
    owner.subresource = meta::FindString(entry, "subresource");
    owner.time = meta::FindString(entry, "time");
    const json::value* fields = meta::FindField(entry, "fieldsV1");
    if (fields && (!fields->is_object() || !owner.set.FromJson(fields->get_object(), arena)))
      return "error decoding set";
    owner.wire = fields ? &fields->get_object() : nullptr;
    owners_.push_back(std::move(owner));
    ++index;
  }
  KeepLastOfEach();
  return "";
}

void Owners::KeepLastOfEach() {
  std::set<decltype(Identity(owners_.front()))> seen;
  std::vector<bool> repeated(owners_.size());
  for (std::size_t i = owners_.size(); i-- > 0;) repeated[i] = !seen.insert(Identity(owners_[i])).second;
  EraseMarked(repeated);
}

void Owners::EraseMarked(const std::vector<bool>& marked) {
  std::vector<Owner> kept;
  kept.reserve(owners_.size());
  for (std::size_t i = 0; i < owners_.size(); ++i) {
    if (!marked[i]) kept.push_back(std::move(owners_[i]));
  }
  owners_ = std::move(kept);
}

json::array Owners::Encode(const json::storage_ptr& storage, bool sorted_keys) const {
  struct Sorted {
    const Owner* owner;
    std::int64_t seconds;
  };
  std::vector<Sorted> sorted;
  sorted.reserve(owners_.size());
  for (const Owner& owner : owners_) sorted.push_back({&owner, owners_.size() > 1 ? Seconds(owner.time) : 0});
  std::sort(sorted.begin(), sorted.end(), [](const Sorted& a, const Sorted& b) {
    return std::make_tuple(!a.owner->applied, a.seconds, std::string_view(a.owner->manager),
                           std::string_view(a.owner->api_version), std::string_view(a.owner->subresource)) <
           std::make_tuple(!b.owner->applied, b.seconds, std::string_view(b.owner->manager),
                           std::string_view(b.owner->api_version), std::string_view(b.owner->subresource));
  });
  json::array out(storage);
  out.reserve(sorted.size());
  for (const Sorted& one : sorted) {
    const Owner& owner = *one.owner;
    json::object entry(storage);
    entry.reserve(7);
    if (!owner.manager.empty()) entry.emplace("manager", owner.manager);
    entry.emplace("operation", owner.applied ? "Apply" : "Update");
    entry.emplace("apiVersion", owner.api_version);
    if (!owner.time.empty()) entry.emplace("time", owner.time);
    entry.emplace("fieldsType", "FieldsV1");
    entry.emplace("fieldsV1", owner.wire ? json::object(*owner.wire, storage) : owner.set.ToJson(storage, sorted_keys));
    if (!owner.subresource.empty()) entry.emplace("subresource", owner.subresource);
    out.push_back(std::move(entry));
  }
  return out;
}

Owner* Owners::Find(const Owner& identity) {
  for (Owner& owner : owners_) {
    if (owner.SameIdentity(identity)) return &owner;
  }
  return nullptr;
}

void Owners::Remove(const Owner& identity) {
  std::erase_if(owners_, [&](const Owner& owner) { return owner.SameIdentity(identity); });
}

void Owners::RemoveEmpty() {
  std::erase_if(owners_, [](const Owner& owner) { return owner.set.Empty(); });
}

void Owners::CapUpdaters() {
  struct Updater {
    std::int64_t seconds;
    std::size_t index;
  };
  std::vector<Updater> updaters;
  for (std::size_t i = 0; i < owners_.size(); ++i) {
    if (!owners_[i].applied) updaters.push_back({Seconds(owners_[i].time), i});
  }
  if (updaters.size() <= kMaxUpdaters) return;
  std::sort(updaters.begin(), updaters.end(), [&](const Updater& a, const Updater& b) {
    return std::make_tuple(a.seconds, Identity(owners_[a.index])) <
           std::make_tuple(b.seconds, Identity(owners_[b.index]));
  });
  // The first old entry of an API version is kept unless a second one follows; from then on both are merged into the
  // "ancient-changes" entry of that version.
  struct Bucket {
    std::size_t index;
    bool ancient;                // already named "ancient-changes"
    std::vector<FieldSet> sets;  // to be merged into it
  };
  std::map<std::string, Bucket> buckets;
  for (std::size_t i = 0; i < owners_.size(); ++i) {
    const Owner& owner = owners_[i];
    if (!owner.applied && owner.manager == kAncient && owner.subresource.empty())
      buckets.try_emplace(owner.api_version, Bucket{i, true, {}});
  }
  std::size_t left = updaters.size();
  std::set<std::string> met;  // versions that already had an old entry
  std::vector<bool> gone(owners_.size());
  for (std::size_t i = 0; i < updaters.size() && left > kMaxUpdaters; ++i) {
    Owner& owner = owners_[updaters[i].index];
    const auto [it, is_new] = buckets.try_emplace(owner.api_version, Bucket{updaters[i].index, false, {}});
    Bucket& bucket = it->second;
    if (met.insert(owner.api_version).second || bucket.index == updaters[i].index) continue;
    if (!bucket.ancient) {
      owners_[bucket.index].manager = kAncient;
      owners_[bucket.index].subresource.clear();
      bucket.ancient = true;
    }
    bucket.sets.push_back(std::move(owner.set));
    owners_[bucket.index].time = owner.time;
    gone[updaters[i].index] = true;
    --left;
  }
  for (auto& [version, bucket] : buckets) {
    if (bucket.sets.empty()) continue;
    owners_[bucket.index].set.Add(FieldSet::UnionOf(std::move(bucket.sets)));
    owners_[bucket.index].wire = nullptr;
  }
  EraseMarked(gone);
}

const FieldSet& UnownedFields() {
  static const FieldSet fields = [] {
    FieldSet set;
    const auto field = [](std::string_view name) { return PathElement{PathElement::Kind::kField, name}; };
    for (const std::string_view name : {"apiVersion", "kind", "metadata"}) set.Insert({field(name)});
    for (const std::string_view name : {"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName",
                                        "generation", "managedFields", "resourceVersion"}) {
      set.Insert({field("metadata"), field(name)});
    }
    return set;
  }();
  return fields;
}

FieldSet ToFieldSet(const ResetFields& fields, TextArena& arena) {
  FieldSet set;
  for (const std::string& dotted : fields) {
    FieldSet::Path path;
    std::string_view rest = arena.Keep(dotted);
    while (true) {
      const std::size_t dot = rest.find('.');
      path.push_back({PathElement::Kind::kField, rest.substr(0, dot)});
      if (dot == std::string_view::npos) break;
      rest.remove_prefix(dot + 1);
    }
    set.Insert(path);
  }
  return set;
}

}  // namespace apimesh::patch
