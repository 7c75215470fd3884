#include "services/object-check/check.h"

#include <stdexcept>

#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/base/progress/progress.h"
#include "lib/codec/codec.h"
#include "lib/encryption/encryption.h"
#include "lib/schema/builtin.h"
#include "services/object-check/check_object.h"

namespace apimesh::object_check {
namespace {

namespace json = boost::json;

constexpr std::int64_t kPage = 500;
constexpr std::chrono::seconds kPageLimit{60};
constexpr std::string_view kDefinitions = "apiextensions.k8s.io/customresourcedefinitions/";
constexpr std::string_view kServiceRange = "servicecidrs/kubernetes";
constexpr std::string_view kEncrypted = "k8s:enc:";

class Check {
 public:
  Check(etcd::Client& client, Options options) : client_(client), options_(std::move(options)) {
    while (options_.prefix.ends_with('/')) options_.prefix.pop_back();
    options_.prefix += '/';
    if (options_.encryption_config.empty()) return;
    auto started =
        encryption::Encryption::Start({.clock = options_.clock, .file = options_.encryption_config}, options_.executor);
    if (!started) throw std::runtime_error("--encryption-provider-config: " + started.error().message);
    encryption_ = std::move(*started);
  }
  ~Check() {
    if (encryption_) encryption_->Stop();
  }

  Task<Report> Run() {
    const etcd::RangeResult all = co_await Read(std::string(1, '\0'), std::string(1, '\0'), 0);
    report_.revision = revision_ = all.revision;
    const etcd::RangeResult objects = co_await Read(options_.prefix, etcd::PrefixEnd(options_.prefix), 0);
    report_.foreign = static_cast<std::uint64_t>(all.count - objects.count);
    if (objects.count == 0) {
      throw std::runtime_error(fmt::format(
          "there are no objects with the prefix {}; if the API server has another --etcd-prefix, give it here, too",
          options_.prefix));
    }
    // The keys of custom resources can come before those of their definitions.
    co_await ReadDefinitions();
    Progress progress({.task = "checking objects",
                       .total = static_cast<std::uint64_t>(objects.count),
                       .terminal = options_.show_progress && Progress::IsTerminal(stderr)},
                      options_.clock);
    std::string next = options_.prefix;
    for (bool more = true; more;) {
      const etcd::RangeResult page = co_await Read(next, etcd::PrefixEnd(options_.prefix), kPage);
      for (const etcd::KeyValue& kv : page.kvs) {
        co_await CheckOne(kv);
        if (options_.show_progress) progress.Advance();
      }
      more = page.more && !page.kvs.empty();
      if (more) next = page.kvs.back().key + '\0';
    }
    co_return std::move(report_);
  }

 private:
  /// Reads keys; with limit 0 only their number.
  Task<etcd::RangeResult> Read(std::string key, std::string end, std::int64_t limit) {
    etcd::RangeOptions range;
    range.range_end = std::move(end);
    range.limit = limit;
    range.count_only = limit == 0;
    range.revision = revision_;
    range.deadline = options_.clock.Steady() + kPageLimit;
    etcd::Result<etcd::RangeResult> page = co_await client_.Range(key, range);
    if (!page && page.error().code == etcd::Error::Code::kCompacted) {
      range.revision = revision_ = 0;
      page = co_await client_.Range(std::move(key), range);
    }
    if (!page) throw std::runtime_error("reading the store: " + page.error().message);
    co_return std::move(*page);
  }

  Task<> ReadDefinitions() {
    std::string next = options_.prefix + std::string(kDefinitions);
    const std::string end = etcd::PrefixEnd(next);
    for (bool more = true; more;) {
      const etcd::RangeResult page = co_await Read(next, end, kPage);
      for (const etcd::KeyValue& kv : page.kvs) {
        const Location location = Locate(std::string_view(kv.key).substr(options_.prefix.size()), definitions_);
        const encryption::Result<std::string> plain = co_await Decrypt(kv, location);
        // A definition that cannot be read is reported with all other objects.
        if (plain) [[maybe_unused]]
          const meta::Result<> ignored = definitions_.Add(*plain);
      }
      more = page.more && !page.kvs.empty();
      if (more) next = page.kvs.back().key + '\0';
    }
  }

  Task<encryption::Result<std::string>> Decrypt(const etcd::KeyValue& kv, const Location& location) {
    const encryption::TransformerPtr transformer =
        encryption_ ? encryption_->For(location.resource.group, location.resource.resource) : encryption::Identity();
    if (transformer->NeedsKeyFetch(kv.value)) {
      const encryption::Result<> fetched = co_await transformer->FetchKey(kv.value);
      if (!fetched) co_return fetched.error();
    }
    encryption::Result<encryption::Opened> opened = transformer->Open(kv.value, kv.key);
    if (!opened) co_return opened.error();
    co_return std::move(opened->plain);
  }

  Task<> CheckOne(const etcd::KeyValue& kv) {
    const std::string_view path = std::string_view(kv.key).substr(options_.prefix.size());
    const Location location = Locate(path, definitions_);
    if (location.internal) {
      ++report_.internal;
      co_return;
    }
    ++report_.objects;
    report_.bytes += kv.value.size();
    if (kv.value.starts_with(kEncrypted)) ++report_.encrypted;
    const encryption::Result<std::string> plain = co_await Decrypt(kv, location);
    if (!plain) {
      const std::string resource = location.resource.ToString();
      report_.Count(resource);
      report_.Add(Problem::kUnreadable, resource, path, plain.error().message);
      co_return;
    }
    ++(codec::IsProtobuf(*plain) ? report_.protobuf : report_.json);
    if (path == kServiceRange) report_.service_ranges = RangesOf(*plain, *location.builtin);
    CheckObject(location, path, *plain, report_);
  }

  /// Returns spec.cidrs of a ServiceCIDR.
  static std::string RangesOf(const std::string& value, const StoredResource& stored) {
    const meta::Result<meta::Object> object = Decode(value, *schema::Builtin().FindKind(stored.stored_kind));
    const json::value* const ranges = object ? meta::Find(object->Root(), "spec", "cidrs") : nullptr;
    std::vector<std::string_view> texts;
    if (ranges && ranges->is_array()) {
      for (const json::value& range : ranges->get_array())
        if (range.is_string()) texts.emplace_back(range.get_string());
    }
    return fmt::format("{}", fmt::join(texts, ","));
  }

  etcd::Client& client_;
  Options options_;
  std::shared_ptr<encryption::Encryption> encryption_;
  Definitions definitions_;
  etcd::Revision revision_ = 0;
  Report report_;
};

}  // namespace

Task<Report> CheckAll(etcd::Client& client, Options options) {
  Check check(client, std::move(options));
  co_return co_await check.Run();
}

}  // namespace apimesh::object_check
