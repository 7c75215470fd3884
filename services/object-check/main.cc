#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>
#include <fmt/format.h>

#include "services/object-check/check.h"

namespace {

using namespace apimesh;

int Run(object_check::Options options, etcd::ClientOptions source, boost::asio::io_context& context) {
  options.executor = source.executor = context.get_executor();
  const std::unique_ptr<etcd::Client> client = etcd::NewClient(source);
  int code = 1;
  const auto done = [&](std::exception_ptr failure, const object_check::Report& report) {
    context.stop();
    try {
      if (failure) std::rethrow_exception(failure);
      fmt::print("{}\n", boost::json::serialize(report.ToJson()));
      code = 0;
    } catch (const std::exception& error) {
      fmt::print(stderr, "object-check: {}\n", error.what());
    }
  };
  boost::asio::co_spawn(context, object_check::CheckAll(*client, options), done);
  context.run();
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Reads all objects of an API server from etcd, checks that this server can serve them, and prints a report as "
      "JSON. Writes nothing. `apimesh migrate` runs it.");
  boost::asio::io_context context{1};
  object_check::Options options{.clock = Clock::System(), .prefix = "/registry"};
  etcd::ClientOptions source{.clock = Clock::System()};
  app.add_option("--etcd-servers", source.endpoints, "URLs of etcd")->required()->delimiter(',');
  app.add_option("--etcd-cafile", source.ca_file, "certificates of the authorities of etcd");
  app.add_option("--etcd-certfile", source.cert_file, "client certificate for etcd");
  app.add_option("--etcd-keyfile", source.key_file, "key of the client certificate");
  app.add_option("--etcd-prefix", options.prefix, "prefix of the keys of the API server")->capture_default_str();
  app.add_option("--encryption-provider-config", options.encryption_config,
                 "the file with which the API server encrypts objects");
  CLI11_PARSE(app, argc, argv);
  try {
    return Run(options, source, context);
  } catch (const std::exception& error) {
    fmt::print(stderr, "object-check: {}\n", error.what());
    return 1;
  }
}
