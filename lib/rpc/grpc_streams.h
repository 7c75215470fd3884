#pragma once

// Internal: includes gRPC, so only .cc files may include this.

#include <grpcpp/support/client_callback.h>

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "lib/rpc/grpc_await.h"

namespace apimesh::rpc {

/// One direction of a stream: one operation at a time, and none may begin once it is closed. gRPC keeps the call's
/// object alive for us by a "hold" for each direction, which must be given back exactly once, and not before the
/// operation under way has ended. Guarded by the stream's mutex.
template <class T>
struct StreamDirection {
  std::optional<Waiter<T>> waiter;  // set: an operation is under way
  bool closed = false;
  bool held = true;

  bool ShouldReleaseHold() {
    if (!closed || waiter || !held) return false;
    held = false;
    return true;
  }
};

template <class Request, class Response, class Reactor>
class StreamReactor : public Reactor {
 public:
  explicit StreamReactor(int directions) { writes_.held = directions == 2; }

  grpc::ClientContext& Context() { return context_; }
  /// For the call that starts the stream; must live as long as the stream.
  Request& First() { return first_; }

  void Start(std::shared_ptr<StreamReactor> self) {
    alive_ = std::move(self);
    this->AddMultipleHolds(writes_.held ? 2 : 1);
    this->StartCall();
  }

  void Read(Waiter<std::optional<Response>> waiter) {
    {
      std::unique_lock lock(mutex_);
      if (reads_.closed) {
        lock.unlock();
        std::move(waiter).Resume(std::nullopt);
        return;
      }
      waiter.OnCancel([weak = std::weak_ptr<StreamReactor>(alive_)] {
        if (auto live = weak.lock()) live->Cancel();
      });
      reads_.waiter.emplace(std::move(waiter));
    }
    this->StartRead(&incoming_);
  }

  template <class Begin>
  void Write(Waiter<bool> waiter, Begin begin) {
    {
      std::unique_lock lock(mutex_);
      if (writes_.closed) {
        lock.unlock();
        std::move(waiter).Resume(false);
        return;
      }
      waiter.OnCancel([weak = std::weak_ptr<StreamReactor>(alive_)] {
        if (auto live = weak.lock()) live->Cancel();
      });
      writes_.waiter.emplace(std::move(waiter));
    }
    begin(*this);
  }

  void Finish(Waiter<grpc::Status> waiter) {
    Close();
    {
      std::lock_guard lock(mutex_);
      if (!done_) {
        finish_.emplace(std::move(waiter));
        return;
      }
    }
    std::move(waiter).Resume(status_);
  }

  void Cancel() {
    context_.TryCancel();
    Close();
  }

  /// No operation may begin from now on; the call ends once those under way have.
  void Close() {
    int release = 0;
    {
      std::lock_guard lock(mutex_);
      reads_.closed = writes_.closed = true;
      release = reads_.ShouldReleaseHold() + writes_.ShouldReleaseHold();
    }
    while (release-- > 0) this->RemoveHold();
  }

  void OnReadDone(bool ok) override {
    std::unique_lock lock(mutex_);
    auto waiter = Take(reads_.waiter);
    const bool release = reads_.ShouldReleaseHold();
    lock.unlock();
    if (ok) {
      std::move(*waiter).Resume(std::move(incoming_));
    } else {
      Close();  // the server has ended the stream: writing has no reader any more
      std::move(*waiter).Resume(std::nullopt);
    }
    if (release) this->RemoveHold();
  }

  void WriteEnded(bool ok) {
    std::unique_lock lock(mutex_);
    auto waiter = Take(writes_.waiter);
    if (!ok) writes_.closed = true;
    const bool release = writes_.ShouldReleaseHold();
    lock.unlock();
    std::move(*waiter).Resume(ok);
    if (release) this->RemoveHold();
  }

  void OnDone(const grpc::Status& status) override {
    std::unique_lock lock(mutex_);
    done_ = true;
    status_ = status;
    auto waiter = Take(finish_);
    const std::shared_ptr<StreamReactor> self = std::move(alive_);
    lock.unlock();
    if (waiter) std::move(*waiter).Resume(status);
  }

 private:
  grpc::ClientContext context_;
  Request first_;
  Response incoming_;
  std::mutex mutex_;
  StreamDirection<std::optional<Response>> reads_;  // guarded by mutex_, as all below
  StreamDirection<bool> writes_;
  std::optional<Waiter<grpc::Status>> finish_;
  bool done_ = false;
  grpc::Status status_;
  std::shared_ptr<StreamReactor> alive_;  // until OnDone, gRPC's last word
};

/// A stream of answers to one request. Destroying it cancels the call. One coroutine reads at a time; Cancel() is
/// callable from any thread.
///   rpc::ServerStream<Chunk> stream(stub->async(), &Delegate::Stub::async::Stream, request, {});
///   while (auto chunk = co_await stream.Read()) …
///   grpc::Status status = co_await stream.Finish();
template <class Response>
class ServerStream {
 public:
  template <class Stub, class Base, class Request>
  ServerStream(Stub* stub,
               void (Base::*method)(grpc::ClientContext*, const Request*, grpc::ClientReadReactor<Response>*),
               std::type_identity_t<Request> request, const CallOptions& options) {
    using Reactor = StreamReactor<Request, Response, grpc::ClientReadReactor<Response>>;
    auto reactor = std::make_shared<Reactor>(1);
    Prepare(reactor->Context(), options);
    reactor->First() = std::move(request);
    (stub->*method)(&reactor->Context(), &reactor->First(), reactor.get());
    reactor->Start(reactor);
    stream_ = std::make_shared<Model<Reactor>>(std::move(reactor));
  }
  ~ServerStream() {
    if (stream_) stream_->Cancel();
  }
  ServerStream(ServerStream&&) = default;
  ServerStream& operator=(ServerStream&&) = delete;

  /// The next message; nullopt: the stream has ended, Finish() says how. Cancelling a Read cancels the call.
  Task<std::optional<Response>> Read() {
    auto start = [stream = stream_](Waiter<std::optional<Response>> waiter) { stream->Read(std::move(waiter)); };
    return Suspend<std::optional<Response>>(std::move(start));
  }
  /// How the call ended. Awaited after Read() gave nullopt or after Cancel().
  Task<grpc::Status> Finish() {
    auto start = [stream = stream_](Waiter<grpc::Status> waiter) { stream->Finish(std::move(waiter)); };
    return Suspend<grpc::Status>(std::move(start));
  }
  void Cancel() { stream_->Cancel(); }

 private:
  // The type of the request is of no interest once the call has begun.
  struct Stream {
    virtual ~Stream() = default;
    virtual void Read(Waiter<std::optional<Response>> waiter) = 0;
    virtual void Finish(Waiter<grpc::Status> waiter) = 0;
    virtual void Cancel() = 0;
  };
  template <class Reactor>
  struct Model final : Stream {
    explicit Model(std::shared_ptr<Reactor> r) : reactor(std::move(r)) {}
    void Read(Waiter<std::optional<Response>> waiter) override { reactor->Read(std::move(waiter)); }
    void Finish(Waiter<grpc::Status> waiter) override { reactor->Finish(std::move(waiter)); }
    void Cancel() override { reactor->Cancel(); }
    std::shared_ptr<Reactor> reactor;
  };
  std::shared_ptr<Stream> stream_;
};

/// A stream both ways. One coroutine may read while another writes. Destroying it cancels the call.
template <class Request, class Response>
class BidiStream {
 public:
  template <class Stub, class Base>
  BidiStream(Stub* stub, void (Base::*method)(grpc::ClientContext*, grpc::ClientBidiReactor<Request, Response>*),
             const CallOptions& options)
      : reactor_(std::make_shared<Reactor>()) {
    Prepare(reactor_->Context(), options);
    (stub->*method)(&reactor_->Context(), reactor_.get());
    reactor_->Start(reactor_);
  }
  ~BidiStream() {
    if (reactor_) reactor_->Cancel();
  }
  BidiStream(BidiStream&&) = default;
  BidiStream& operator=(BidiStream&&) = delete;

  Task<std::optional<Response>> Read() {
    auto start = [reactor = reactor_](Waiter<std::optional<Response>> waiter) { reactor->Read(std::move(waiter)); };
    return Suspend<std::optional<Response>>(std::move(start));
  }
  /// Returns when gRPC has room for the next message; false: the stream has ended.
  Task<bool> Write(Request message) {
    auto start = [reactor = reactor_, message = std::move(message)](Waiter<bool> waiter) mutable {
      reactor->outgoing = std::move(message);
      reactor->Write(std::move(waiter), [](auto& r) { r.StartWrite(&static_cast<Reactor&>(r).outgoing); });
    };
    return Suspend<bool>(std::move(start));
  }
  /// Tells the server that no more messages come.
  Task<bool> WritesDone() {
    auto start = [reactor = reactor_](Waiter<bool> waiter) {
      reactor->Write(std::move(waiter), [](auto& r) { r.StartWritesDone(); });
    };
    return Suspend<bool>(std::move(start));
  }
  Task<grpc::Status> Finish() {
    auto start = [reactor = reactor_](Waiter<grpc::Status> waiter) { reactor->Finish(std::move(waiter)); };
    return Suspend<grpc::Status>(std::move(start));
  }
  void Cancel() { reactor_->Cancel(); }

 private:
  struct Reactor final : StreamReactor<Request, Response, grpc::ClientBidiReactor<Request, Response>> {
    Reactor() : StreamReactor<Request, Response, grpc::ClientBidiReactor<Request, Response>>(2) {}
    void OnWriteDone(bool ok) override { this->WriteEnded(ok); }
    void OnWritesDoneDone(bool ok) override { this->WriteEnded(ok); }
    Request outgoing;
  };
  std::shared_ptr<Reactor> reactor_;
};

}  // namespace apimesh::rpc
