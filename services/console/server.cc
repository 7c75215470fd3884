#include "services/console/server.h"

#include <atomic>
#include <charconv>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>

#include "lib/http/body_budget.h"
#include "services/console/cluster/proxy.h"
#include "services/console/files/static_files.h"
#include "services/console/requests/answers.h"
#include "services/console/requests/guard.h"
#include "services/console/session/login.h"
#include "services/console/session/sessions.h"

namespace apimesh::console {
namespace {

constexpr std::size_t kMostSessions = 64;
constexpr std::size_t kMostConnections = 512;
constexpr std::size_t kLongestLogin = 64 << 10;
constexpr std::string_view kCluster = "/cluster";
constexpr std::string_view kLogin = "/console/login";
constexpr std::string_view kLogout = "/console/logout";
constexpr std::string_view kKeyHeader = "x-console-key";

std::vector<std::string> HostsOf(const Options& options) {
  std::vector<std::string> hosts = options.hosts;
  hosts.emplace_back("localhost");
  hosts.push_back(options.address);
  return hosts;
}

http::ServerOptions Listener(const Options& options, const Clock& clock) {
  http::ServerOptions listener{.clock = clock};
  listener.address = options.address;
  listener.port = options.port;
  listener.tls = options.Tls();
  listener.tls_options.cert_file = options.tls_cert_file;
  listener.tls_options.key_file = options.tls_key_file;
  listener.tls_options.client_certificate = net::ServerTlsOptions::ClientCertificate::kNone;
  listener.limits.header_bytes = 64 << 10;
  listener.limits.unfinished_head_bytes = 4 << 20;
  listener.limits.bodies = std::make_shared<http::BodyBudget>(32 << 20);
  listener.limits.connections = kMostConnections;
  listener.limits.refusal_body = &ErrorBody;
  return listener;
}

/// Returns whether the head announces a body that is not larger than a login.
bool HasShortBody(const http::Request& request) {
  const std::string_view length = request.Header("content-length");
  std::size_t bytes = 0;
  const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), bytes);
  return error == std::errc() && end == length.data() + length.size() && bytes <= kLongestLogin;
}

/// What all requests share. The port is known when the listener exists, which needs the handler.
struct Site {
  Site(const Options& given, const Clock& given_clock)
      : options(given),
        clock(given_clock),
        files(options.files),
        sessions(kMostSessions, options.session_lifetime, clock),
        login(options.login_folder, std::make_shared<const Identities>(options.kubeconfig, clock), clock) {}

  void ListensOn(int port) {
    guard.emplace(HostsOf(options), port, options.Tls());
    cookie = fmt::format("{}apimesh-console-{}", options.Tls() ? "__Host-" : "", port);
    ready = true;
  }

  const Options options;
  const Clock& clock;
  const StaticFiles files;
  Sessions sessions;
  const Login login;
  std::optional<Guard> guard;
  std::string cookie;
  std::atomic<bool> ready{false};  // `guard` and `cookie` are set and do not change any more
};

/// The value of Set-Cookie. An empty secret removes the cookie.
std::string CookieHeader(const Site& site, std::string_view secret) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(site.options.session_lifetime).count();
  return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={}{}", site.cookie, secret,
                     secret.empty() ? 0 : seconds, site.options.Tls() ? "; Secure" : "");
}

Task<> AnswerLogin(Site& site, http::Request request, http::ResponseWriter& writer) {
  // A page of another origin cannot send this content type without the permission of the console.
  if (request.method != "POST" || !request.Header("content-type").starts_with("application/json") ||
      !HasShortBody(request)) {
    co_await SendError(writer, meta::BadRequest("a login is a POST of a short application/json"));
    co_return;
  }
  http::BodyTerms terms;
  http::BodyResult body = co_await writer.ReadBody(std::move(terms));
  if (!body) {
    co_await http::SendRefusal(writer, body.error(), &ErrorBody);
    co_return;
  }
  meta::Result<IdentityPtr> identity = co_await site.login.Run(std::move(*body));
  if (!identity) {
    co_await SendError(writer, identity.error());
    co_return;
  }
  const Sessions::Ticket ticket = site.sessions.Add(std::move(*identity));
  http::Headers headers;
  headers.emplace_back("set-cookie", CookieHeader(site, ticket.cookie));
  co_await SendJson(writer, 200, fmt::format("{{\"key\":\"{}\"}}\n", ticket.key), std::move(headers));
}

Task<> AnswerLogout(Site& site, std::string cookie, http::ResponseWriter& writer) {
  site.sessions.Remove(cookie);
  http::Headers headers;
  headers.emplace_back("set-cookie", CookieHeader(site, ""));
  co_await SendJson(writer, 200, "{}\n", std::move(headers));
}

Task<> AnswerPage(const Site& site, const http::Request& request, http::ResponseWriter& writer) {
  const StaticFiles::File* file = site.files.Find(request.target.substr(0, request.target.find('?')));
  if (!file || (request.method != "GET" && request.method != "HEAD")) {
    co_await SendError(writer, meta::GenericNotFound());
    co_return;
  }
  http::Headers headers;
  headers.emplace_back("content-type", file->content_type);
  headers.emplace_back("cache-control", file->immutable ? "public, max-age=31536000, immutable" : "no-cache");
  AddPageHeaders(headers);
  std::vector<SharedBytes> body;
  body.push_back(file->contents);
  co_await writer.Send(200, std::move(headers), std::move(body));
}

meta::ApiError Misdirected() {
  return meta::ApiError(
      {.code = 421, .reason = meta::Reason::kBadRequest, .message = "the Host header does not name this console"});
}

Task<> Answer(std::shared_ptr<Site> site, http::Request request, http::ResponseWriter& writer) {
  if (!site->ready) {
    co_await SendError(writer, meta::ServiceUnavailable("the console is starting"));
    co_return;
  }
  if (!site->guard->NamesThisConsole(request)) {
    co_await SendError(writer, Misdirected());
    co_return;
  }
  const std::string_view target = request.target;
  const bool api = target.starts_with("/cluster/");
  if (!api && target != kLogin && target != kLogout) {
    co_await AnswerPage(*site, request, writer);
    co_return;
  }
  if (const auto foreign = site->guard->ForeignOrigin(request)) {
    co_await SendError(writer, *foreign);
    co_return;
  }
  if (target == kLogin) {
    co_await AnswerLogin(*site, std::move(request), writer);
    co_return;
  }
  std::string cookie = CookieOf(request, site->cookie);
  Sessions::Found session = site->sessions.Find(cookie, request.Header(kKeyHeader));
  if (!session.identity) {
    co_await SendError(writer, meta::Unauthorized("there is no session; log in first"));
  } else if (api) {
    std::string path(target.substr(kCluster.size()));
    co_await Forward(std::move(session.identity), std::move(request), std::move(path), session.expires, writer);
  } else if (request.method == "POST") {
    co_await AnswerLogout(*site, std::move(cookie), writer);
  } else {
    co_await SendError(writer, meta::BadRequest("a logout is a POST"));
  }
}

}  // namespace

struct ConsoleServer::State {
  std::unique_ptr<http::Server> listener;
};

ConsoleServer::ConsoleServer(const Options& options, const Clock& clock) : state_(std::make_unique<State>()) {
  Check(options);
  auto site = std::make_shared<Site>(options, clock);
  auto handler = [site](http::Request request, http::ResponseWriter& writer) {
    return Answer(site, std::move(request), writer);
  };
  state_->listener = http::Listen(Listener(options, clock), std::move(handler));
  site->ListensOn(state_->listener->Port());
}

ConsoleServer::~ConsoleServer() = default;

int ConsoleServer::Port() const { return state_->listener->Port(); }

void ConsoleServer::Drain(std::chrono::milliseconds limit) {
  boost::asio::io_context io{1};
  boost::asio::co_spawn(io, state_->listener->Drain(limit), boost::asio::detached);
  io.run();
}

}  // namespace apimesh::console
