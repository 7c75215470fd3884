#include "services/aggregator/metrics/auth_metrics.h"

#include <algorithm>
#include <array>

namespace apimesh::aggregator {
namespace {

// 1 ms, doubled up to 16 s.
std::vector<double> Durations() {
  std::vector<double> bounds;
  for (double bound = 0.001; bounds.size() < 15; bound *= 2) bounds.push_back(bound);
  return bounds;
}

// The values of the label for users: some names, and two values for all others.
constexpr std::array kKnownUsers{"admin", "client", "kube_proxy", "kubelet",
                                 "system:serviceaccount:kube-system:default"};
constexpr std::array kOtherUsers{"email_id", "other"};

std::size_t KindOfUser(std::string_view user) {
  const auto known = std::find(kKnownUsers.begin(), kKnownUsers.end(), user);
  if (known != kKnownUsers.end()) return static_cast<std::size_t>(known - kKnownUsers.begin());
  return kKnownUsers.size() + (user.find('@') == user.npos ? 1 : 0);
}

struct Outcome {
  service::Counter count;
  service::Histogram seconds;
};

}  // namespace

struct AuthMetrics::State {
  explicit State(service::Metrics& given)
      : metrics(given),
        authentication{MakeAuthentication("success"), MakeAuthentication("failure"), MakeAuthentication("error")},
        authorization{MakeAuthorization("allowed"), MakeAuthorization("denied"), MakeAuthorization("no-opinion"),
                      MakeAuthorization("error")} {
    for (const char* user : kKnownUsers) users.push_back(MakeUser(user));
    for (const char* user : kOtherUsers) users.push_back(MakeUser(user));
  }

  Outcome MakeAuthentication(const char* result) {
    return {metrics.GetCounter("authentication_attempts", "Requests by the result of authentication.",
                               {{"result", result}}),
            metrics.GetHistogram("authentication_duration_seconds", "Time to find out who asks.", Durations(),
                                 {{"result", result}})};
  }
  Outcome MakeAuthorization(const char* result) {
    return {metrics.GetCounter("authorization_attempts_total", "Requests by the result of authorization.",
                               {{"result", result}}),
            metrics.GetHistogram("authorization_duration_seconds", "Time to find out what they may do.", Durations(),
                                 {{"result", result}})};
  }

  service::Counter MakeUser(const char* user) {
    return metrics.GetCounter("authenticated_user_requests", "Authenticated requests by kind of user.",
                              {{"username", user}});
  }

  service::Metrics& metrics;
  std::vector<service::Counter> users;  // indexed by KindOfUser
  std::array<Outcome, 3> authentication;
  std::array<Outcome, 4> authorization;
};

AuthMetrics::AuthMetrics(service::Metrics& metrics) : state_(std::make_unique<State>(metrics)) {}
AuthMetrics::~AuthMetrics() = default;

void AuthMetrics::Authenticated(Authentication result, std::string_view user, std::chrono::duration<double> took) {
  Outcome& outcome = state_->authentication[static_cast<std::size_t>(result)];
  outcome.count.Add();
  outcome.seconds.Observe(took.count());
  if (result == Authentication::kSuccess) state_->users[KindOfUser(user)].Add();
}

void AuthMetrics::Authorized(Authorization result, std::chrono::duration<double> took) {
  Outcome& outcome = state_->authorization[static_cast<std::size_t>(result)];
  outcome.count.Add();
  outcome.seconds.Observe(took.count());
}

void AuthMetrics::Impersonation(const std::string& mode, bool allowed, std::chrono::duration<double> took) {
  const service::Labels labels{{"mode", mode}, {"decision", allowed ? "allowed" : "denied"}};
  state_->metrics.GetCounter("apiserver_impersonation_attempts_total", "Attempts to act as another user.", labels)
      .Add();
  state_->metrics
      .GetHistogram("apiserver_impersonation_attempts_duration_seconds", "Time to decide on impersonation.",
                    Durations(), labels)
      .Observe(took.count());
}

}  // namespace apimesh::aggregator
