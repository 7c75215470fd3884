#pragma once

#include <optional>
#include <string>
#include <utility>

#include "lib/grpc/channel.h"
#include "lib/grpc/server_call.h"

/// Calls with typed messages. The types must have ParseFromString() and SerializeAsString().
namespace apimesh::grpc {

template <class M>
Message Pack(const M& message) {
  Message packed;
  packed.emplace_back(message.SerializeAsString());
  return packed;
}

template <class Response>
struct UnaryAnswer {
  Status status;
  Response response;
};

template <class Response>
Task<UnaryAnswer<Response>> FinishUnary(std::shared_ptr<Channel>, Task<UnaryResult> call) {
  UnaryResult result = co_await std::move(call);
  UnaryAnswer<Response> answer;
  answer.status = std::move(result.status);
  if (answer.status.ok() && !answer.response.ParseFromString(result.message)) {
    answer.status = {Code::kInternal, "the answer can't be read"};
  }
  co_return answer;
}

/// Makes a unary call, for example:
///   auto answer = co_await grpc::Unary<RangeResponse>(channel, "/etcdserverpb.KV/Range", request, options);
template <class Response, class Request>
Task<UnaryAnswer<Response>> Unary(std::shared_ptr<Channel> channel, std::string path, const Request& request,
                                  CallOptions options) {
  return FinishUnary<Response>(channel, channel->Unary(std::move(path), Pack(request), std::move(options)));
}

/// Reads the next message of a call as an M; nullopt if the call has ended, or the message cannot be parsed.
template <class M>
Task<std::optional<M>> ReadAs(ClientCall& call) {
  std::optional<std::string> bytes = co_await call.Read();
  std::optional<M> message;
  if (!bytes) co_return message;
  message.emplace();
  if (!message->ParseFromString(*bytes)) {
    call.Cancel();
    message.reset();
  }
  co_return message;
}

/// Adapts a handler of typed messages to a handler of bytes.
template <class Request, class Response>
UnaryHandler Typed(std::function<Task<Response>(Request)> handler) {
  struct Run {
    static Task<UnaryReply> Once(std::function<Task<Response>(Request)> handle, std::string bytes) {
      UnaryReply reply;
      Request request;
      if (!request.ParseFromString(bytes)) {
        reply.status = {Code::kInvalidArgument, "the request can't be read"};
        co_return reply;
      }
      const Response response = co_await handle(std::move(request));
      reply.message = Pack(response);
      co_return reply;
    }
  };
  return
      [handler = std::move(handler)](ServerCallPtr, std::string bytes) { return Run::Once(handler, std::move(bytes)); };
}

}  // namespace apimesh::grpc
