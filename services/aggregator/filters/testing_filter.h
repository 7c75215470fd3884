#pragma once

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/testing/manual_clock.h"
#include "lib/testing/run.h"
#include "services/aggregator/filters/inputs.h"

/// Runs one filter on one request, for the tests of filters.
namespace apimesh::aggregator {

/// Records a response.
class RecordedResponse final : public http::ResponseWriter {
 public:
  Task<bool> Send(int sent_code, http::Headers sent, std::vector<SharedBytes> body) override {
    code = sent_code;
    headers = std::move(sent);
    for (const SharedBytes& piece : body) text += piece.View();
    co_return true;
  }
  Task<bool> Start(int sent_code, http::Headers sent, bool) override {
    code = sent_code;
    headers = std::move(sent);
    co_return true;
  }
  Task<bool> Write(std::vector<SharedBytes>) override { co_return true; }
  Task<bool> Finish() override { co_return true; }
  bool HeadSent() const override { return code != 0; }
  void Abort() override { aborted = true; }
  Task<std::unique_ptr<http::RawConnection>> Upgrade(http::Headers) override { co_return nullptr; }
  void OnDisconnect(std::function<void()>) override {}

  std::string_view Header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
      if (key == name) return value;
    }
    return "";
  }

  int code = 0;  // 0: nothing was sent
  http::Headers headers;
  std::string text;
  bool aborted = false;
};

/// The last filter of a test's chain. It calls a function with the request.
class LastFilter final : public Filter {
 public:
  using Handler = std::function<Task<>(Exchange&)>;
  explicit LastFilter(Handler handler) : handler_(std::move(handler)) {}
  Task<> Handle(Exchange& exchange, Next) override { return handler_(exchange); }

 private:
  const Handler handler_;
};

/// One request, and what a filter does with it. A test fills in `exchange` and the inputs that the filter reads.
struct FilterTest : ::testing::Test {
  FilterTest() {
    exchange.request.method = "GET";
    exchange.request.peer = std::make_shared<net::Peer>();
    exchange.started = clock.Steady();
    exchange.audit_id = "id-1";
  }

  /// Runs a filter that must exist, and behind it a filter that answers 200.
  void Run(const std::shared_ptr<Filter>& filter) {
    Run(filter, [](Exchange& reached) -> Task<> { co_await reached.reply.SendText(200, "text/plain", "ok"); });
  }
  void Run(const std::shared_ptr<Filter>& filter, LastFilter::Handler handler) {
    ASSERT_TRUE(filter);
    const Filters chain = {filter, std::make_shared<LastFilter>(std::move(handler))};
    testing::RunTask(RunFilters(chain, exchange));
  }

  testing::ManualClock clock;
  flags::OptionSet options;
  service::Metrics metrics{clock};
  FilterInputs inputs{.options = options,
                      .lifecycle = nullptr,
                      .authority = nullptr,
                      .auditor = nullptr,
                      .metrics = nullptr,
                      .auth_metrics = nullptr,
                      .routes = nullptr,
                      .pages = nullptr,
                      .objects = nullptr,
                      .core_api = nullptr,
                      .process_metrics = metrics,
                      .executor = {},
                      .clock = clock};
  RecordedResponse response;
  Exchange exchange{http::Request(), response, clock};
};

}  // namespace apimesh::aggregator
