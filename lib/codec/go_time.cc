#include "lib/codec/go_time.h"

#include <chrono>

#include <fmt/format.h>

#include "lib/meta/errors/field_error.h"

namespace apimesh::codec {
namespace {

class TimeParser {
 public:
  TimeParser(std::string_view text, bool micro) : text_(text), rest_(text), micro_(micro) {}

  boost::system::result<GoTime, std::string> Parse() {
    int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
    // Go records the first value out of range and continues, because a syntax error takes precedence.
    const bool parsed = Number(4, "2006", year) && Literal("-") && Number(2, "01", month) &&
                        Range(month, 1, 12, "month") && Literal("-") && Number(2, "02", day) && Literal("T") &&
                        Number(2, "15", hour) && Range(hour, 0, 23, "hour") && Literal(":") &&
                        Number(2, "04", minute) && Range(minute, 0, 59, "minute") && Literal(":") &&
                        Number(2, "05", second) && Range(second, 0, 59, "second") && Fraction() && Zone();
    if (!parsed) return error_;
    if (!rest_.empty()) return Message(": extra text: " + meta::Quoted(rest_));
    if (!range_error_.empty()) return Message(": " + range_error_ + " out of range");
    const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
    if (!date.ok()) return Message(": day out of range");
    const auto since_epoch =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::sys_days(date).time_since_epoch()) +
        std::chrono::hours(hour) + std::chrono::minutes(minute) + std::chrono::seconds(second) - offset_;
    return GoTime{since_epoch.count(), nanos_};
  }

 private:
  std::string Message(const std::string& what) const {
    return fmt::format("parsing time {} as {}{}", meta::Quoted(text_), meta::Quoted(Layout()), what);
  }
  std::string_view Layout() const { return micro_ ? "2006-01-02T15:04:05.000000Z07:00" : "2006-01-02T15:04:05Z07:00"; }
  bool Fail(std::string_view element) {
    error_ = Message(fmt::format(": cannot parse {} as {}", meta::Quoted(rest_), meta::Quoted(element)));
    return false;
  }
  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }

  bool Number(std::size_t width, std::string_view element, int& value) {
    if (rest_.size() < width) return Fail(element);
    for (std::size_t i = 0; i < width; ++i) {
      if (!IsDigit(rest_[i])) return Fail(element);
      value = value * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(width);
    return true;
  }
  bool Literal(std::string_view literal) {
    if (!rest_.starts_with(literal)) return Fail(literal);
    rest_.remove_prefix(literal.size());
    return true;
  }
  bool Range(int value, int low, int high, const char* what) {
    if ((value < low || value > high) && range_error_.empty()) range_error_ = what;
    return true;
  }
  bool Fraction() {
    std::size_t digits = 0;
    if (micro_) {
      while (digits < 6 && digits + 1 < rest_.size() && IsDigit(rest_[digits + 1])) ++digits;
      if (digits < 6 || rest_[0] != '.') return Fail(".000000");
    } else if (rest_.size() >= 2 && (rest_[0] == '.' || rest_[0] == ',') && IsDigit(rest_[1])) {
      while (digits + 1 < rest_.size() && IsDigit(rest_[digits + 1])) ++digits;
    } else {
      return true;
    }
    nanos_ = 0;
    for (std::size_t i = 0; i < 9; ++i) nanos_ = nanos_ * 10 + (i < digits ? rest_[i + 1] - '0' : 0);
    rest_.remove_prefix(digits + 1);
    return true;
  }
  bool Zone() {
    if (rest_.starts_with("Z")) {
      rest_.remove_prefix(1);
      return true;
    }
    const bool shaped = rest_.size() >= 6 && (rest_[0] == '+' || rest_[0] == '-') && IsDigit(rest_[1]) &&
                        IsDigit(rest_[2]) && rest_[3] == ':' && IsDigit(rest_[4]) && IsDigit(rest_[5]);
    if (!shaped) return Fail("Z07:00");
    const int hours = (rest_[1] - '0') * 10 + (rest_[2] - '0');
    const int minutes = (rest_[4] - '0') * 10 + (rest_[5] - '0');
    if (hours > 24) Range(1, 0, 0, "time zone offset hour");
    if (minutes > 60) Range(1, 0, 0, "time zone offset minute");
    offset_ = (std::chrono::hours(hours) + std::chrono::minutes(minutes)) * (rest_[0] == '-' ? -1 : 1);
    rest_.remove_prefix(6);
    return true;
  }

  std::string_view text_, rest_;
  bool micro_;
  std::string error_, range_error_;
  std::int32_t nanos_ = 0;
  std::chrono::minutes offset_{0};
};

}  // namespace

bool GoTime::IsZero() const { return seconds == -62135596800 && nanos == 0; }

std::string FormatGoTime(const GoTime& time, bool micro) {
  const std::chrono::sys_seconds seconds{std::chrono::seconds(time.seconds)};
  const auto day = std::chrono::floor<std::chrono::days>(seconds);
  const std::chrono::year_month_day date(day);
  const std::int64_t of_day = (seconds - day).count();
  std::string text = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", int(date.year()), unsigned(date.month()),
                                 unsigned(date.day()), of_day / 3600, of_day / 60 % 60, of_day % 60);
  if (micro) text += fmt::format(".{:06}", time.nanos / 1000);
  return text + "Z";
}

boost::system::result<GoTime, std::string> ParseGoTime(std::string_view text, bool micro) {
  return TimeParser(text, micro).Parse();
}

}  // namespace apimesh::codec
