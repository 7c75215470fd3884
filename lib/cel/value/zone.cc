#include <charconv>
#include <cstdlib>
#include <list>
#include <mutex>
#include <unordered_map>

#include "lib/base/file.h"
#include "lib/cel/value/time.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::cel {
namespace {

/// A time zone of the IANA database: the offsets from UTC between transitions, and the rule for later times.
struct Zone {
  struct Transition {
    std::int64_t at;
    std::int32_t offset;
  };
  std::int32_t first_offset = 0;
  std::vector<Transition> transitions;
  std::string rule;  // POSIX TZ, e.g. "CET-1CEST,M3.5.0,M10.5.0/3"
};

std::int64_t BigEndian(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < size; ++i) out = out << 8 | static_cast<unsigned char>(bytes[at + i]);
  return size == 4 ? static_cast<std::int32_t>(out) : static_cast<std::int64_t>(out);
}

struct Header {
  std::size_t utc, standard, leap, times, types, chars;
  std::size_t Size(std::size_t time_size) const {
    return times * (time_size + 1) + types * 6 + chars + leap * (time_size + 4) + standard + utc;
  }
};

std::optional<Header> ReadHeader(std::string_view data) {
  if (data.size() < 44 || !data.starts_with("TZif")) return std::nullopt;
  const auto count = [&](int i) { return static_cast<std::size_t>(BigEndian(data, 20 + 4 * i, 4)); };
  const Header out{count(0), count(1), count(2), count(3), count(4), count(5)};
  constexpr std::size_t kMany = 100'000;
  if (out.times > kMany || out.types > kMany || out.chars > kMany || out.leap > kMany || out.types == 0)
    return std::nullopt;
  return out;
}

// Reads RFC 8536, version 2 or later: the second block has 64-bit times.
std::optional<Zone> ParseZone(std::string_view data) {
  const auto first = ReadHeader(data);
  if (!first || data.size() < 44 + first->Size(4)) return std::nullopt;
  data.remove_prefix(44 + first->Size(4));
  const auto header = ReadHeader(data);
  if (!header || data.size() < 44 + header->Size(8)) return std::nullopt;
  data.remove_prefix(44);
  const std::size_t indexes = header->times * 8, types = indexes + header->times;
  Zone zone;
  zone.first_offset = static_cast<std::int32_t>(BigEndian(data, types, 4));
  for (std::size_t i = 0; i < header->times; ++i) {
    const std::size_t type = static_cast<unsigned char>(data[indexes + i]);
    if (type >= header->types) return std::nullopt;
    zone.transitions.push_back(
        {BigEndian(data, i * 8, 8), static_cast<std::int32_t>(BigEndian(data, types + type * 6, 4))});
  }
  const std::string_view rule = data.substr(header->Size(8));
  if (rule.size() > 2) zone.rule = rule.substr(1, rule.find('\n', 1) - 1);
  return zone;
}

// A reader of POSIX TZ rules.
struct RuleReader {
  std::string_view text;

  bool Skip(char c) {
    if (!text.starts_with(c)) return false;
    text.remove_prefix(1);
    return true;
  }
  void SkipName() {
    if (Skip('<')) {
      text.remove_prefix(std::min(text.find('>') + 1, text.size()));
      return;
    }
    while (!text.empty() && std::isalpha(static_cast<unsigned char>(text[0]))) text.remove_prefix(1);
  }
  int Number() {
    int out = 0;
    for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1))
      out = std::min(out * 10 + (text[0] - '0'), 100'000);
    return out;
  }
  std::int32_t Time() {
    const bool negative = Skip('-');
    if (!negative) Skip('+');
    std::int32_t out = Number() * 3600;
    if (Skip(':')) out += Number() * 60;
    if (Skip(':')) out += Number();
    return negative ? -out : out;
  }
  // The second of the year, in local time, at which daylight saving time begins or ends.
  std::int64_t Change(std::int64_t year) {
    std::int64_t day = 0;
    const std::int64_t new_year = DaysFromCivil(year, 1, 1);
    if (Skip('M')) {
      const int month = Number();
      Skip('.');
      const int week = Number();
      Skip('.');
      const int weekday = Number();
      const std::int64_t begin = DaysFromCivil(year, std::clamp(month, 1, 12), 1);
      const std::int64_t end = month >= 12 ? DaysFromCivil(year + 1, 1, 1) : DaysFromCivil(year, month + 1, 1);
      day = begin + ((weekday - (begin + 4)) % 7 + 7) % 7 + (week - 1) * 7;
      while (day >= end) day -= 7;
      day -= new_year;
    } else if (Skip('J')) {
      day = Number() - 1;
      const bool leap = DaysFromCivil(year + 1, 1, 1) - new_year == 366;
      if (leap && day >= 59) ++day;
    } else {
      day = Number();
    }
    return day * 86'400 + (Skip('/') ? Time() : 7200);
  }
};

std::int32_t OffsetByRule(std::string_view rule, std::int64_t seconds) {
  RuleReader reader{rule};
  reader.SkipName();
  const std::int32_t standard = -reader.Time();
  if (reader.text.empty()) return standard;
  reader.SkipName();
  const std::int32_t summer = reader.text.starts_with(',') ? standard + 3600 : -reader.Time();
  reader.Skip(',');
  const std::int64_t year = ToCivil(seconds + standard).year;
  const std::int64_t second = seconds - DaysFromCivil(year, 1, 1) * 86'400;
  const std::int64_t begin = reader.Change(year) - standard;
  reader.Skip(',');
  const std::int64_t end = reader.Change(year) - summer;
  const bool is_summer = begin < end ? second >= begin && second < end : second >= begin || second < end;
  return is_summer ? summer : standard;
}

std::int32_t OffsetAt(const Zone& zone, std::int64_t seconds) {
  if (zone.transitions.empty() || seconds < zone.transitions.front().at)
    return zone.transitions.empty() && !zone.rule.empty() ? OffsetByRule(zone.rule, seconds) : zone.first_offset;
  if (seconds >= zone.transitions.back().at && !zone.rule.empty()) return OffsetByRule(zone.rule, seconds);
  const auto after = std::upper_bound(zone.transitions.begin(), zone.transitions.end(), seconds,
                                      [](std::int64_t at, const Zone::Transition& t) { return at < t.at; });
  return std::prev(after)->offset;
}

// Zones that were read. Only zones that exist are kept, so their number is limited by the database.
std::shared_ptr<const Zone> FindZone(const std::string& name) {
  static std::mutex mutex;
  static auto& zones = *new std::unordered_map<std::string, std::shared_ptr<const Zone>>();
  {
    const std::lock_guard lock(mutex);
    if (const auto found = zones.find(name); found != zones.end()) return found->second;
  }
  for (const char* folder : {"/usr/share/zoneinfo/", "/usr/share/lib/zoneinfo/", "/usr/lib/locale/TZ/"}) {
    const auto data = ReadFile(folder + name);
    if (!data) continue;
    const auto zone = ParseZone(*data);
    if (!zone) continue;
    const std::lock_guard lock(mutex);
    return zones.emplace(name, std::make_shared<const Zone>(*zone)).first->second;
  }
  return nullptr;
}

std::optional<int> ParseInt(std::string_view text, std::string& error) {
  std::string_view digits = text;
  if (digits.starts_with('+') || digits.starts_with('-')) digits.remove_prefix(1);
  int out = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  if (failure != std::errc() || end != digits.data() + digits.size() || digits.starts_with('-')) {
    error = fmt::format("strconv.Atoi: parsing {}: {}", meta::Quoted(text),
                        failure == std::errc::result_out_of_range ? "value out of range" : "invalid syntax");
    return std::nullopt;
  }
  return text.starts_with('-') ? -out : out;
}

}  // namespace

std::optional<std::int32_t> ZoneOffset(std::string_view zone, std::int64_t seconds, std::string& error) {
  if (zone.empty() || zone == "UTC") return 0;
  if (const std::size_t colon = zone.find(':'); colon != std::string_view::npos) {
    const auto hours = ParseInt(zone.substr(0, colon), error);
    if (!hours) return std::nullopt;
    const auto minutes = ParseInt(zone.substr(colon + 1), error);
    if (!minutes) return std::nullopt;
    const std::int64_t offset = std::int64_t{*hours} * 60 + (zone[0] == '-' ? -std::int64_t{*minutes} : *minutes);
    return static_cast<std::int32_t>(offset * 60);
  }
  if (zone == "Local") return 0;
  if (zone.find("..") != std::string_view::npos || zone[0] == '/' || zone[0] == '\\' ||
      zone.find('\0') != std::string_view::npos || zone.size() > 64) {
    error = "time: invalid location name";
    return std::nullopt;
  }
  const auto found = FindZone(std::string(zone));
  if (!found) {
    error = fmt::format("unknown time zone {}", zone);
    return std::nullopt;
  }
  return OffsetAt(*found, seconds);
}

}  // namespace apimesh::cel
