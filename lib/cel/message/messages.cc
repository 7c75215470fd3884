#include "lib/cel/message/messages.h"

#include <map>

namespace apimesh::cel {
namespace {

constexpr std::string_view kPackage = "google.protobuf.";

using Messages = std::map<std::string, Message, std::less<>>;

void Add(Messages& out, std::string_view name, TypeRef type, std::vector<MessageField> fields,
         bool denotes_type = false) {
  std::string full = std::string(kPackage) + std::string(name);
  Message message{full, std::move(type), std::move(fields), denotes_type};
  out.emplace(std::move(full), std::move(message));
}

const Messages& All() {
  static const Messages& messages = *[] {
    auto* out = new Messages();
    const auto wrapper = [out](std::string_view name, const TypeRef& type, std::string_view native) {
      Add(*out, name, Type::Wrapper(type), {{"value", type, native}});
    };
    wrapper("BoolValue", Type::Bool(), "bool");
    wrapper("BytesValue", Type::Bytes(), "[]uint8");
    wrapper("DoubleValue", Type::Double(), "float64");
    wrapper("FloatValue", Type::Double(), "float32");
    wrapper("Int32Value", Type::Int(), "int32");
    wrapper("Int64Value", Type::Int(), "int64");
    wrapper("StringValue", Type::String(), "string");
    wrapper("UInt32Value", Type::Uint(), "uint32");
    wrapper("UInt64Value", Type::Uint(), "uint64");
    const std::vector<MessageField> time{{"seconds", Type::Int(), "int64"}, {"nanos", Type::Int(), "int32"}};
    Add(*out, "Timestamp", Type::Timestamp(), time, true);
    Add(*out, "Duration", Type::Duration(), time, true);
    const TypeRef map = Type::Map(Type::String(), Type::Dyn()), list = Type::List(Type::Dyn());
    Add(*out, "Struct", map, {{"fields", map, "map"}});
    Add(*out, "ListValue", list, {{"values", list, "list"}});
    Add(*out, "Value", Type::Dyn(),
        {{"null_value", Type::Int(), "protoreflect.EnumNumber"},
         {"number_value", Type::Double(), "float64"},
         {"string_value", Type::String(), "string"},
         {"bool_value", Type::Bool(), "bool"},
         {"struct_value", map, "*structpb.Struct"},
         {"list_value", list, "*structpb.ListValue"}});
    Add(*out, "Any", Type::Any(), {{"type_url", Type::String(), "string"}, {"value", Type::Bytes(), "[]uint8"}});
    Add(*out, "Empty", Type::Object("google.protobuf.Empty"), {}, true);
    return out;
  }();
  return messages;
}

}  // namespace

const MessageField* Message::FindField(std::string_view field) const {
  for (const MessageField& one : fields) {
    if (one.name == field) return &one;
  }
  return nullptr;
}

const Message* FindMessage(std::string_view name) {
  if (!name.starts_with(kPackage)) return nullptr;
  const auto found = All().find(name);
  return found == All().end() ? nullptr : &found->second;
}

}  // namespace apimesh::cel
