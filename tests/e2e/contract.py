"""The contract between the processes of the mesh, proto/mesh/v1, as data: what its messages contain, and what they contained in the last release."""
import importlib.resources
import pathlib
import sys
import tempfile

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from grpc_tools import protoc

ROOT = pathlib.Path(__file__).resolve().parents[2]
RELEASED = ROOT / "proto/mesh/released.txt"
FILES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "proto/mesh/v1").glob("*.proto"))
# Fields that no version has: a number and a text.
FROM_THE_NEXT_RELEASE = b"\xc0\x3e\x07" + b"\xca\x3e\x03new"


def compiled():
    """Returns the FileDescriptorProtos of the contract."""
    with tempfile.NamedTemporaryFile() as out:
        well_known = str(importlib.resources.files("grpc_tools") / "_proto")
        assert protoc.main(["protoc", f"-I{ROOT}", f"-I{well_known}", "--include_imports", f"--descriptor_set_out={out.name}", *FILES]) == 0
        return descriptor_pb2.FileDescriptorSet.FromString(pathlib.Path(out.name).read_bytes()).file


def lines_of(files):
    """Returns one line per field, value of an enumeration, and method."""
    def of_message(prefix, message):
        name = f"{prefix}.{message.name}"
        for field in message.field:
            kind = field.type_name.lstrip(".") or descriptor_pb2.FieldDescriptorProto.Type.Name(field.type)
            yield f"{name} {field.number} {field.name} {descriptor_pb2.FieldDescriptorProto.Label.Name(field.label)} {kind}"
        for inner in message.nested_type:
            yield from of_message(name, inner)
        for enum in message.enum_type:
            yield from of_enum(name, enum)

    def of_enum(prefix, enum):
        for value in enum.value:
            yield f"{prefix}.{enum.name} {value.number} {value.name}"

    for file in files:
        if not file.name.startswith("proto/mesh/"):
            continue
        for message in file.message_type:
            yield from of_message(file.package, message)
        for enum in file.enum_type:
            yield from of_enum(file.package, enum)
        for service in file.service:
            for method in service.method:
                yield f"{file.package}.{service.name}/{method.name} {method.input_type.lstrip('.')}{' stream' if method.client_streaming else ''} {method.output_type.lstrip('.')}{' stream' if method.server_streaming else ''}"


def released():
    return [line for line in RELEASED.read_text().splitlines() if line and not line.startswith("#")]


class Contract:
    """Changes messages to what a process of another release would send."""

    def __init__(self):
        files = compiled()
        self.pool = descriptor_pool.DescriptorPool()
        for file in files:
            self.pool.Add(file)
        self.methods = {f"/{file.package}.{service.name}/{method.name}": (self.message(method.input_type), self.message(method.output_type), method.client_streaming, method.server_streaming)
                        for file in files for service in file.service for method in service.method}
        self.known = {tuple(line.split()[:2]) for line in released()}
        self.removed = set()  # (message, field) that previous() has left out

    def message(self, name):
        return message_factory.GetMessageClass(self.pool.FindMessageTypeByName(name.lstrip(".")))

    def previous(self, message):
        """Removes the fields that the last release does not have."""
        for field, value in message.ListFields():
            if (message.DESCRIPTOR.full_name, str(field.number)) not in self.known:
                self.removed.add((message.DESCRIPTOR.full_name, field.name))
                message.ClearField(field.name)
                continue
            for inner in messages_in(field, value):
                self.previous(inner)

    def next(self, message):
        """Adds unknown fields to the message and to all messages in it."""
        for field, value in message.ListFields():
            for inner in messages_in(field, value):
                self.next(inner)
        message.MergeFromString(FROM_THE_NEXT_RELEASE)


def messages_in(field, value):
    if field.message_type is None:
        return []
    if field.message_type.GetOptions().map_entry:
        return list(value.values()) if field.message_type.fields_by_name["value"].message_type else []
    return [value] if not isinstance(value, (list,)) and hasattr(value, "ListFields") else list(value)


if __name__ == "__main__":
    sys.stdout.write("# The fields, values and methods of the contract in the last release. Made by tests/e2e/contract.py; see tests/e2e/test_version_skew.py.\n")
    sys.stdout.write("".join(f"{line}\n" for line in lines_of(compiled())))
