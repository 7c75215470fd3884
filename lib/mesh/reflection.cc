#include "lib/mesh/reflection.h"

#include <set>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include "lib/grpc/typed_call.h"
#include "proto/grpc/reflection/reflection.pb.h"

namespace apimesh::mesh {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;

/// Adds the file and its dependencies, each once, dependencies first.
void AddFile(const FileDescriptor* file, std::set<const FileDescriptor*>& seen, reflection::Files* out) {
  if (!seen.insert(file).second) return;
  for (int i = 0; i < file->dependency_count(); ++i) AddFile(file->dependency(i), seen, out);
  google::protobuf::FileDescriptorProto proto;
  file->CopyTo(&proto);
  out->add_file_descriptor_proto(proto.SerializeAsString());
}

reflection::Response Answer(const reflection::Request& request, const std::vector<std::string>& services) {
  reflection::Response response;
  response.set_valid_host(request.host());
  *response.mutable_original_request() = request;
  const DescriptorPool* pool = DescriptorPool::generated_pool();
  const FileDescriptor* file = nullptr;
  switch (request.message_request_case()) {
    case reflection::Request::kListServices:
      for (const std::string& service : services) response.mutable_services()->add_service()->set_name(service);
      return response;
    case reflection::Request::kFileByFilename: file = pool->FindFileByName(request.file_by_filename()); break;
    case reflection::Request::kFileContainingSymbol:
      file = pool->FindFileContainingSymbol(request.file_containing_symbol());
      break;
    default: break;
  }
  if (file == nullptr) {
    response.mutable_failure()->set_error_code(static_cast<int>(grpc::Code::kNotFound));
    response.mutable_failure()->set_error_message("not found");
    return response;
  }
  std::set<const FileDescriptor*> seen;
  AddFile(file, seen, response.mutable_files());
  return response;
}

Task<> Run(std::shared_ptr<const std::vector<std::string>> services, grpc::ServerCallPtr call) {
  for (;;) {
    const std::optional<std::string> bytes = co_await call->Read();
    reflection::Request request;
    if (!bytes || !request.ParseFromString(*bytes)) break;
    grpc::Message answer = grpc::Pack(Answer(request, *services));
    if (!co_await call->Write(std::move(answer))) break;
  }
  grpc::Status ok;
  call->Finish(ok);
}

}  // namespace

void AddReflection(grpc::Methods& methods) {
  const auto services = std::make_shared<const std::vector<std::string>>(methods.Services());
  for (const char* version : {"v1", "v1alpha"}) {
    methods.AddStream(std::string("/grpc.reflection.") + version + ".ServerReflection/ServerReflectionInfo",
                      [services](grpc::ServerCallPtr call) { return Run(services, std::move(call)); });
  }
}

}  // namespace apimesh::mesh
