#include "lib/grpc/link.h"

#include <algorithm>
#include <mutex>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "lib/base/async/wakeup.h"
#include "lib/base/log.h"
#include "lib/grpc/dial.h"

namespace apimesh::grpc {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{50};
constexpr milliseconds kLongestPause{1000};
constexpr std::chrono::seconds kLookUpEvery{10};
/// The time after which the connection of one of several replicas is made again.
constexpr milliseconds kReconnectAfter{250};

/// Keeps the links of an io_context, and closes them before it is destroyed.
class Links final : public asio::execution_context::service {
 public:
  static inline asio::execution_context::id id;
  explicit Links(asio::execution_context& context) : service(context) {}

  void Add(std::shared_ptr<Link> link) {
    const std::lock_guard lock(mutex_);
    links_.push_back(std::move(link));
  }
  void Remove(const std::shared_ptr<Link>& link) {
    const std::lock_guard lock(mutex_);
    std::erase(links_, link);
  }

 private:
  void shutdown() override {
    std::unique_lock lock(mutex_);
    const auto links = std::exchange(links_, {});
    lock.unlock();
    for (const auto& link : links) link->Close();
  }

  std::mutex mutex_;
  std::vector<std::shared_ptr<Link>> links_;
};

}  // namespace

std::shared_ptr<Link> NewLink(asio::io_context& io, std::shared_ptr<const ChannelOptions> options,
                              std::shared_ptr<net::ClientTls> tls) {
  auto link = std::make_shared<Link>(io, std::move(options), std::move(tls));
  asio::use_service<Links>(io).Add(link);
  return link;
}

void DropLink(const std::shared_ptr<Link>& link) {
  link->Run([link] {
    link->Close();
    asio::use_service<Links>(link->Context()).Remove(link);
  });
}

Link::Link(asio::io_context& io, std::shared_ptr<const ChannelOptions> options, std::shared_ptr<net::ClientTls> tls)
    : executor_(io.get_executor()),
      options_(std::move(options)),
      tls_(std::move(tls)),
      named_(IsName(options_->target)),
      deadlines_(io) {}

void Link::Start(const std::shared_ptr<ClientStream>& stream) {
  stream->SetLink(weak_from_this());
  Open(stream);
}

void Link::OpenSoon(std::shared_ptr<ClientStream> stream) {
  asio::post(executor_, [self = shared_from_this(), stream = std::move(stream)] { self->Open(stream); });
}

void Link::Open(const std::shared_ptr<ClientStream>& stream) {
  if (stream->Ended()) return;
  if (stream->Deadline() != SteadyTime::max()) {
    if (stream->Deadline() <= options_->clock.Steady()) {
      return stream->Abandon({Code::kDeadlineExceeded, "the deadline has passed", true});
    }
    Watch(stream->Deadline());
  }
  const SteadyTime now = options_->clock.Steady();
  const Replica* const replica = closed_ ? nullptr : Pick();
  if (replica && replica->connection->Open(stream, stream->Head(replica->address.host, options_->tls))) {
    // There may be new replicas, or one that was lost can be reached again.
    if (now >= next_lookup_ && (named_ || Incomplete())) ConnectSoon();
    return stream->OnOpen();
  }
  if (closed_ || (!connecting_ && now < no_attempt_before_)) {
    return stream->Abandon({Code::kUnavailable, closed_ ? "the channel is closed" : last_failure_, true});
  }
  // A process that is stopped or stuck accepts connections, so that each call would wait until its own attempt fails.
  if (hung_) {
    stream->Abandon({Code::kUnavailable, "the server does not respond", true});
  } else {
    waiting_.push_back(stream);
  }
  ConnectSoon();
}

bool Link::Incomplete() const {
  return replicas_.size() > 1 && std::any_of(replicas_.begin(), replicas_.end(), [](const Replica& replica) {
           return !replica.connection || !replica.connection->TakesRequests();
         });
}

void Link::ConnectSoon() {
  if (std::exchange(connecting_, true)) return;
  asio::co_spawn(executor_, Connect(shared_from_this()), asio::detached);
}

const Link::Replica* Link::Pick() {
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    turn_ = (turn_ + 1) % replicas_.size();
    const Replica& replica = replicas_[turn_];
    if (replica.connection && replica.connection->TakesRequests()) return &replica;
  }
  return nullptr;
}

Task<> Link::Connect(std::shared_ptr<Link> /*self: kept until the end*/) {
  std::string why;
  const SteadyTime now = options_->clock.Steady();
  if (replicas_.empty() || now >= next_lookup_) {
    const std::vector<Address> addresses =
        co_await LookUp(options_->target, http::DialerOf(options_->network) != nullptr, why);
    next_lookup_ = now + kLookUpEvery;
    std::erase_if(replicas_, [&](const Replica& old) {
      if (addresses.empty()) return false;  // the lookup failed
      const bool gone = std::none_of(addresses.begin(), addresses.end(),
                                     [&](const Address& a) { return a.text == old.address.text; });
      if (gone && old.connection) {
        old.connection->GoAway();
        Retire(old.connection);
      }
      return gone;
    });
    for (const Address& address : addresses) {
      const bool known = std::any_of(replicas_.begin(), replicas_.end(),
                                     [&](const Replica& r) { return r.address.text == address.text; });
      if (!known) replicas_.push_back({address, nullptr});
    }
  }
  for (std::size_t i = 0; i < replicas_.size() && !closed_; ++i) {
    if (replicas_[i].connection && replicas_[i].connection->TakesRequests()) continue;
    co_await ConnectOne(replicas_[i], why);
    if (Pick()) OpenWaiting();
  }
  connecting_ = false;
  if (Pick()) {
    failures_ = 0;
    hung_ = false;
    if (Incomplete()) next_lookup_ = std::min(next_lookup_, options_->clock.Steady() + kLongestPause);
    OpenWaiting();
    co_return;
  }
  // A Unix socket fails immediately, so another attempt costs nothing.
  const bool local = options_->target.starts_with("unix:") && !hung_;
  const milliseconds pause = std::min<milliseconds>(kFirstPause * (1 << std::min(failures_++, 10)), kLongestPause);
  no_attempt_before_ = local ? SteadyTime{} : options_->clock.Steady() + pause;
  last_failure_ = "failed to connect: " + why;
  FailWaiting(last_failure_);
}

Task<> Link::ConnectOne(Replica& replica, std::string& why) {
  const std::string address = replica.address.text;
  if (options_->refuses) {
    const std::string refusal = options_->refuses(address);
    if (!refusal.empty()) {
      why = refusal;
      co_return;
    }
  }
  const SteadyTime deadline = options_->clock.Steady() + options_->connect_timeout;
  DialOptions how{.clock = options_->clock,
                  .tls = tls_.get(),
                  .dialer = http::DialerOf(options_->network),
                  .same_user = options_->same_user};
  std::unique_ptr<net::Transport> transport = co_await Dial(replica.address, std::move(how), deadline, why);
  if (!transport) hung_ = options_->clock.Steady() >= deadline;
  if (!transport || closed_) co_return;
  http::Http2Options connection{.clock = options_->clock};
  connection.keepalive = options_->keepalive;
  const std::shared_ptr<Wakeup> first_bytes = Wakeup::New();
  connection.closed = [address, first_bytes, weak = weak_from_this()](const std::string& reason) {
    log::Debug("connection to {} ended: {}", address, reason);
    first_bytes->Wake();
    const auto self = weak.lock();
    if (!self) return;
    std::erase_if(self->leaving_, [](const auto& one) { return one->Closed(); });
    self->next_lookup_ = std::min(self->next_lookup_, self->options_->clock.Steady() + kReconnectAfter);
  };
  connection.unresponsive = [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->hung_ = true;
  };
  connection.heard = [first_bytes] { first_bytes->Wake(); };
  auto connected =
      http::Http2Connection::Start(asio::any_io_executor(executor_), std::move(transport), std::move(connection));
  // The kernel accepts connections for a process that is stopped. One that runs sends its settings at once.
  const bool responds = co_await Wakeup::Wait(first_bytes, deadline);
  hung_ = !responds;
  if (!responds) {
    why = "the server does not respond";
    connected->Close(why);
    co_return;
  }
  if (connected->Closed() || closed_) co_return;
  Retire(std::exchange(replica.connection, std::move(connected)));
}

/// Keeps a connection that accepts no more calls until its last call has ended; otherwise these calls would never end.
void Link::Retire(std::shared_ptr<http::Http2Connection> connection) {
  if (connection && !connection->Closed()) leaving_.push_back(std::move(connection));
}

void Link::OpenWaiting() {
  const auto waiting = std::exchange(waiting_, {});
  for (const auto& stream : waiting) Open(stream);
}

void Link::FailWaiting(const std::string& why) {
  const auto waiting = std::exchange(waiting_, {});
  for (const auto& stream : waiting) stream->Abandon({Code::kUnavailable, why, true});
}

void Link::Close() {
  if (std::exchange(closed_, true)) return;
  const auto self = shared_from_this();
  deadlines_.cancel();
  for (Replica& replica : replicas_) {
    if (replica.connection) replica.connection->Close("the channel is closed");
  }
  for (const auto& connection : std::exchange(leaving_, {})) connection->Close("the channel is closed");
  FailWaiting("the channel is closed");
}

void Link::Watch(SteadyTime deadline) {
  if (deadline >= armed_for_) return;
  armed_for_ = deadline;
  deadlines_.expires_at(deadline);
  deadlines_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    if (error) return;
    if (const auto self = weak.lock()) self->ExpireCalls();
  });
}

void Link::ExpireCalls() {
  armed_for_ = SteadyTime::max();
  const SteadyTime now = options_->clock.Steady();
  std::vector<std::shared_ptr<ClientStream>> calls(waiting_.begin(), waiting_.end());
  const auto add = [&calls](const http::Http2Connection& connection) {
    for (const auto& stream : connection.Streams()) calls.push_back(std::static_pointer_cast<ClientStream>(stream));
  };
  for (const Replica& replica : replicas_) {
    if (replica.connection) add(*replica.connection);
  }
  for (const auto& connection : leaving_) add(*connection);
  std::erase_if(waiting_, [now](const auto& stream) { return stream->Deadline() <= now; });
  SteadyTime next = SteadyTime::max();
  for (const auto& stream : calls) {
    if (stream->Deadline() > now) {
      next = std::min(next, stream->Deadline());
    } else {
      stream->Abandon({Code::kDeadlineExceeded, "the deadline has passed"});
    }
  }
  if (next != SteadyTime::max()) Watch(next);
}

}  // namespace apimesh::grpc
