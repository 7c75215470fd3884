"""A gRPC proxy between two processes of the mesh that makes one of them look like a process of another release."""
import asyncio
import pathlib
import threading

import grpc
import grpc.aio

UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1), ("grpc.max_metadata_size", 1 << 20), ("grpc.absolute_max_metadata_size", 1 << 20)]


class ContractProxy(threading.Thread):
    """Listens on `port` with the identity of `server`, and calls `upstream` with that of `client`. `change` changes every message, in both directions."""

    def __init__(self, contract, change, pki, port, server, upstream, client):
        super().__init__(daemon=True)
        self.contract, self.change, self.port, self.upstream = contract, change, port, upstream
        self.messages = 0
        read = lambda name, file: (pathlib.Path(pki) / name / file).read_bytes()  # noqa: E731
        ca = read(server, "mesh-ca.crt")
        self.listening = grpc.ssl_server_credentials([(read(server, "mesh.key"), read(server, "mesh.crt"))], ca, True)
        self.calling = grpc.ssl_channel_credentials(ca, read(client, "mesh.key"), read(client, "mesh.crt"))
        self.ready, self.loop = threading.Event(), asyncio.new_event_loop()
        self.start()
        assert self.ready.wait(20)

    def run(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self.serve())

    async def serve(self):
        self.stopped = asyncio.Event()
        self.channel = grpc.aio.secure_channel(self.upstream, self.calling, options=[*UNLIMITED, ("grpc.initial_reconnect_backoff_ms", 50), ("grpc.max_reconnect_backoff_ms", 200)])
        server = grpc.aio.server(options=UNLIMITED)
        server.add_generic_rpc_handlers([Handlers(self)])
        server.add_secure_port(f"127.0.0.1:{self.port}", self.listening)
        await server.start()
        self.ready.set()
        await self.stopped.wait()
        await server.stop(None)
        await self.channel.close()

    def stop(self):
        self.loop.call_soon_threadsafe(self.stopped.set)
        self.join(20)

    def changed(self, kind, data):
        message = kind.FromString(data)
        self.change(message)
        self.messages += 1
        return message.SerializeToString()


class Handlers(grpc.GenericRpcHandler):
    def __init__(self, proxy):
        self.proxy = proxy

    def service(self, details):
        proxy = self.proxy
        if details.method not in proxy.contract.methods:
            return None
        request_kind, response_kind, many_requests, many_responses = proxy.contract.methods[details.method]

        def call(requests, context):
            metadata = [(key, value) for key, value in context.invocation_metadata() or () if not key.startswith(("grpc-", "user-agent", "te"))]
            options = {"metadata": metadata, "timeout": context.time_remaining(), "wait_for_ready": False}
            if many_requests:
                async def changed_requests():
                    async for data in requests:
                        yield proxy.changed(request_kind, data)
                return (proxy.channel.stream_stream if many_responses else proxy.channel.stream_unary)(details.method)(changed_requests(), **options)
            changed = proxy.changed(request_kind, requests)
            return (proxy.channel.unary_stream if many_responses else proxy.channel.unary_unary)(details.method)(changed, **options)

        async def one(requests, context):
            try:
                return proxy.changed(response_kind, await call(requests, context))
            except grpc.aio.AioRpcError as error:
                await context.abort(error.code(), error.details() or "", error.trailing_metadata() or ())

        async def many(requests, context):
            upstream = call(requests, context)
            try:
                async for data in upstream:
                    yield proxy.changed(response_kind, data)
            except grpc.aio.AioRpcError as error:
                await context.abort(error.code(), error.details() or "", error.trailing_metadata() or ())
            finally:
                upstream.cancel()

        make = {(False, False): grpc.unary_unary_rpc_method_handler, (False, True): grpc.unary_stream_rpc_method_handler,
                (True, False): grpc.stream_unary_rpc_method_handler, (True, True): grpc.stream_stream_rpc_method_handler}[many_requests, many_responses]
        return make(many if many_responses else one)
