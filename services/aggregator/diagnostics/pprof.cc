#include "services/aggregator/diagnostics/pprof.h"

#include <charconv>
#include <cstdint>
#include <unordered_map>

#include "lib/base/text/varint.h"

namespace apimesh::aggregator {
namespace {

/// A protobuf message, written field by field.
class Message {
 public:
  void Number(unsigned field, std::uint64_t value) {
    Varint(field << 3);
    Varint(value);
  }
  void Bytes(unsigned field, std::string_view bytes) {
    Varint(field << 3 | 2);
    Varint(bytes.size());
    bytes_ += bytes;
  }
  void Numbers(unsigned field, const std::vector<std::uint64_t>& values) {
    Message packed;
    for (const std::uint64_t value : values) packed.Varint(value);
    Bytes(field, packed.bytes_);
  }
  const std::string& Get() const { return bytes_; }

 private:
  void Varint(std::uint64_t value) { AppendVarint(bytes_, value); }
  std::string bytes_;
};

// The field numbers of profile.proto.
enum ProfileField : unsigned {
  kSampleType = 1,
  kSample = 2,
  kLocation = 4,
  kFunction = 5,
  kStringTable = 6,
  kTimeNanos = 9,
  kDurationNanos = 10,
  kPeriodType = 11,
  kPeriod = 12
};

class Profile {
 public:
  Profile() { Text(""); }

  std::uint64_t Text(std::string_view text) {
    const auto [found, added] = texts_.try_emplace(std::string(text), texts_.size());
    if (added) message_.Bytes(kStringTable, text);
    return found->second;
  }
  /// The id of the function and of its only location.
  std::uint64_t Function(std::string_view name) {
    const auto [found, added] = functions_.try_emplace(std::string(name), functions_.size() + 1);
    if (!added) return found->second;
    const std::uint64_t id = found->second, text = Text(name);
    Message function, line, location;
    function.Number(1, id);
    function.Number(2, text);
    function.Number(3, text);
    message_.Bytes(kFunction, function.Get());
    line.Number(1, id);
    location.Number(1, id);
    location.Bytes(4, line.Get());
    message_.Bytes(kLocation, location.Get());
    return id;
  }
  Message ValueType(std::string_view type, std::string_view unit) {
    Message message;
    message.Number(1, Text(type));
    message.Number(2, Text(unit));
    return message;
  }
  Message& Get() { return message_; }

 private:
  Message message_;
  std::unordered_map<std::string, std::uint64_t> texts_, functions_;
};

void AddSample(Profile& profile, std::string_view line, std::string_view process, std::uint64_t period) {
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), count);
  if (error != std::errc() || end == line.data() + line.size() || *end != '\t') return;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  std::vector<std::uint64_t> locations;
  while (line.starts_with('\t')) {
    line.remove_prefix(1);
    const std::string_view name = line.substr(0, line.find('\t'));
    line.remove_prefix(name.size());
    locations.push_back(profile.Function(name));
  }
  locations.push_back(profile.Function(process));
  Message label, sample;
  label.Number(1, profile.Text("process"));
  label.Number(2, profile.Text(process));
  sample.Numbers(1, locations);
  sample.Numbers(2, {count, count * period});
  sample.Bytes(3, label.Get());
  profile.Get().Bytes(kSample, sample.Get());
}

}  // namespace

std::string WriteProfile(const std::vector<ProcessSamples>& processes, int samples_per_second, WallTime start,
                         std::chrono::nanoseconds duration) {
  const std::uint64_t period = 1'000'000'000 / static_cast<std::uint64_t>(samples_per_second);
  Profile profile;
  for (const auto& [type, unit] : {std::pair("samples", "count"), std::pair("cpu", "nanoseconds")}) {
    const Message value_type = profile.ValueType(type, unit);
    profile.Get().Bytes(kSampleType, value_type.Get());
  }
  const Message period_type = profile.ValueType("cpu", "nanoseconds");
  profile.Get().Bytes(kPeriodType, period_type.Get());
  profile.Get().Number(kPeriod, period);
  const auto since_epoch = std::chrono::duration_cast<std::chrono::nanoseconds>(start.time_since_epoch()).count();
  profile.Get().Number(kTimeNanos, static_cast<std::uint64_t>(since_epoch));
  profile.Get().Number(kDurationNanos, static_cast<std::uint64_t>(duration.count()));
  for (const auto& [process, text] : processes) {
    for (std::string_view rest = text; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      AddSample(profile, line, process, period);
    }
  }
  return profile.Get().Get();
}

}  // namespace apimesh::aggregator
