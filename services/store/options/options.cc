#include "services/store/options/options.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "lib/base/text/text.h"
#include "services/store/options/ignored_flags.h"

namespace apimesh::store {
namespace {

constexpr std::chrono::nanoseconds kShortestProgressInterval = std::chrono::milliseconds(100);

/// Returns the parts of a list that are not empty.
std::vector<std::string> PartsOf(std::string_view list) {
  std::vector<std::string> parts = SplitList(list);
  std::erase(parts, "");
  return parts;
}

std::int64_t Integer(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) throw std::invalid_argument("not a number: " + text);
  return value;
}

bool Boolean(const std::string& text) {
  if (text == "true" || text == "1" || text == "t" || text == "on") return true;
  if (text == "false" || text == "0" || text == "f" || text == "off") return false;
  throw std::invalid_argument("not a boolean: " + text);
}

void RequireOneMember(const std::string& members) {
  if (members.find(',') != std::string::npos) throw std::invalid_argument("this store supports only one member");
}

bool IsTls13(const std::string& version) {
  if (version != "TLS1.2" && version != "TLS1.3" && !version.empty()) throw std::invalid_argument("not a TLS version");
  return version == "TLS1.3";
}

struct Flag {
  bool boolean = false;
  std::function<void(const std::string&)> set;
};

// The retention is parsed when the mode is known, because the same text means hours in one mode and revisions in the
// other.
struct Retention {
  std::string mode = "periodic", retention = "0";
};

std::map<std::string, Flag> KnownFlags(Options& o, Retention& retention) {
  const auto text = [](std::string& field) { return Flag{false, [&field](const std::string& v) { field = v; }}; };
  const auto list = [](std::vector<std::string>& field) {
    return Flag{false, [&field](const std::string& v) { field = PartsOf(v); }};
  };
  const auto yes_no = [](bool& field) { return Flag{true, [&field](const std::string& v) { field = Boolean(v); }}; };
  // As in etcd, 0 selects the default interval, and shorter intervals than this minimum are not possible.
  const Flag progress{false, [&o](const std::string& v) {
                        const std::chrono::nanoseconds given = ParseDuration(v);
                        if (given <= given.zero()) return;
                        o.watch_progress_notify_interval = std::max(given, kShortestProgressInterval);
                      }};
  return {
      {"name", text(o.name)},
      {"data-dir", text(o.data_dir)},
      {"listen-client-urls", list(o.listen_client_urls)},
      {"listen-client-http-urls", list(o.listen_metrics_urls)},
      {"listen-metrics-urls", list(o.listen_metrics_urls)},
      {"advertise-client-urls", list(o.advertise_client_urls)},
      {"initial-advertise-peer-urls", list(o.initial_advertise_peer_urls)},
      {"initial-cluster-token", text(o.initial_cluster_token)},
      {"initial-cluster", {false, &RequireOneMember}},
      {"cert-file", text(o.tls.cert_file)},
      {"key-file", text(o.tls.key_file)},
      {"trusted-ca-file", text(o.tls.trusted_ca_file)},
      {"client-cert-auth", yes_no(o.tls.client_cert_auth)},
      {"tls-min-version", {false, [&o](const std::string& v) { o.tls.at_least_1_3 = IsTls13(v); }}},
      {"unsafe-no-fsync", {true, [&o](const std::string& v) { o.sync = !Boolean(v); }}},
      {"sync", {true, [&o](const std::string& v) { o.sync = Boolean(v); }}},
      {"quota-backend-bytes", {false, [&o](const std::string& v) { o.quota_backend_bytes = Integer(v); }}},
      {"max-request-bytes",
       {false, [&o](const std::string& v) { o.max_request_bytes = static_cast<std::size_t>(Integer(v)); }}},
      {"max-txn-ops", {false, [&o](const std::string& v) { o.max_txn_ops = static_cast<int>(Integer(v)); }}},
      {"auto-compaction-mode", text(retention.mode)},
      {"auto-compaction-retention", text(retention.retention)},
      {"watch-progress-notify-interval", progress},
      {"experimental-watch-progress-notify-interval", progress},
      {"log-level", text(o.log_level)},
      {"log-format", text(o.log_format)},
      {"help", yes_no(o.show_help)},
      {"version", yes_no(o.show_version)},
  };
}

void SetRetention(const Retention& from, Options& options) {
  if (from.retention == "0" || from.retention.empty()) return;
  if (from.mode == "revision") {
    options.auto_compaction = AutoCompaction::kRevision;
    options.auto_compaction_revisions = Integer(from.retention);
  } else if (from.mode == "periodic") {
    options.auto_compaction = AutoCompaction::kPeriodic;
    options.auto_compaction_period = ParseDuration(from.retention);
  } else {
    throw std::invalid_argument("unknown auto-compaction-mode \"" + from.mode + "\"");
  }
}

std::string EnvironmentName(std::string flag) {
  std::ranges::transform(flag, flag.begin(),
                         [](char c) { return c == '-' ? '_' : static_cast<char>(std::toupper(c)); });
  return "ETCD_" + flag;
}

void Apply(const Flag& flag, const std::string& name, const std::string& value) {
  try {
    flag.set(value);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("invalid value \"{}\" for flag --{}: {}", value, name, error.what()));
  }
}

}  // namespace

std::chrono::nanoseconds ParseDuration(const std::string& text) {
  static const std::map<std::string, double> kUnits = {{"ns", 1},  {"us", 1e3}, {"ms", 1e6},
                                                       {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
  double total = 0;
  std::size_t position = 0;
  while (position < text.size()) {
    std::size_t used = 0;
    double number = 0;
    try {
      number = std::stod(text.substr(position), &used);
    } catch (const std::exception&) {
      throw std::invalid_argument("not a duration: " + text);
    }
    position += used;
    const std::size_t unit_end = std::min(text.find_first_of("0123456789.", position), text.size());
    const std::string unit = text.substr(position, unit_end - position);
    const auto found = kUnits.find(unit.empty() ? "h" : unit);
    if (found == kUnits.end()) throw std::invalid_argument("not a duration: " + text);
    total += number * found->second;
    position = unit_end;
  }
  return std::chrono::nanoseconds(static_cast<std::int64_t>(total));
}

Options ParseOptions(const std::vector<std::string>& arguments) {
  Options options;
  Retention retention;
  const std::map<std::string, Flag> known = KnownFlags(options, retention);
  std::set<std::string> given;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (!argument.starts_with('-')) throw std::invalid_argument("unexpected argument: " + argument);
    std::string name = argument.substr(argument.starts_with("--") ? 2 : 1);
    std::optional<std::string> value;
    if (const std::size_t equals = name.find('='); equals != std::string::npos) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    const auto found = known.find(name);
    if (IsRefusedFlag(name)) throw std::invalid_argument("flag not supported by this store: --" + name);
    const IgnoredFlag* ignored = FindIgnoredFlag(name);
    if (found == known.end() && ignored == nullptr) throw std::invalid_argument("unknown flag: --" + name);
    const bool boolean = found != known.end() ? found->second.boolean : ignored->boolean;
    if (!value && boolean) value = "true";
    if (!value) {
      if (i + 1 == arguments.size()) throw std::invalid_argument("flag needs a value: --" + name);
      value = arguments[++i];
    }
    if (found != known.end()) Apply(found->second, name, *value);
    given.insert(name);
  }
  for (const auto& [name, flag] : known) {
    const char* value = std::getenv(EnvironmentName(name).c_str());
    if (value != nullptr && !given.contains(name)) Apply(flag, name, value);
  }
  SetRetention(retention, options);
  if (options.data_dir.empty()) options.data_dir = options.name + ".etcd";
  if (options.advertise_client_urls.empty()) options.advertise_client_urls = options.listen_client_urls;
  return options;
}

std::string HelpText() {
  return R"(Usage: store [flags]                 run the store
       store snapshot save|restore|status …   see `store snapshot --help`
       store import|export …

A single-node store that speaks etcd's v3 API. It takes etcd's flags; these have an effect:
  --name NAME                            name of the member (default "default")
  --data-dir DIR                         default "<name>.etcd"
  --listen-client-urls URLS              http://, https://, unix:// (default http://localhost:2379)
  --listen-metrics-urls URLS             more addresses for /metrics and /health
  --advertise-client-urls URLS           what member list shows
  --initial-advertise-peer-urls URLS     determines the member's id; not used for listening
  --initial-cluster-token TOKEN          gives the cluster its id
  --cert-file, --key-file FILE           serve https:// and unixs:// URLs with this certificate
  --trusted-ca-file FILE                 CA of clients
  --client-cert-auth                     demand a client certificate of that CA
  --quota-backend-bytes N                space quota; 0 is 2 GiB, negative is none
  --auto-compaction-mode MODE            periodic or revision
  --auto-compaction-retention N          a duration, or a number of revisions; 0 is off
  --max-request-bytes N, --max-txn-ops N
  --watch-progress-notify-interval D
  --unsafe-no-fsync, --sync=off          do not wait for the disk: for data that may be thrown away
  --log-level LEVEL, --log-format text|json
All other flags of etcd are accepted and have no effect on a store of one member.
)";
}

}  // namespace apimesh::store
