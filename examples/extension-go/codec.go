package main

import (
	"context"
	"encoding/json"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// codec converts between the messages of delegate.proto and structs with the JSON names of their fields. It reads the .proto
// files when the server starts, so no code is generated.
type codec struct{ types protoreflect.MessageDescriptors }

type message interface{ protoName() protoreflect.Name }

func newCodec(root string) (codec, error) {
	compiler := protocompile.Compiler{Resolver: &protocompile.SourceResolver{ImportPaths: []string{root}}}
	files, err := compiler.Compile(context.Background(), "proto/mesh/v1/delegate.proto")
	if err != nil {
		return codec{}, err
	}
	return codec{files[0].Messages()}, nil
}

func (codec) Name() string { return "proto" }

func (c codec) Marshal(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	dynamic := dynamicpb.NewMessage(c.types.ByName(v.(message).protoName()))
	if err := protojson.Unmarshal(text, dynamic); err != nil {
		return nil, err
	}
	return proto.Marshal(dynamic)
}

func (c codec) Unmarshal(data []byte, v any) error {
	dynamic := dynamicpb.NewMessage(c.types.ByName(v.(message).protoName()))
	if err := proto.Unmarshal(data, dynamic); err != nil {
		return err
	}
	text, err := protojson.Marshal(dynamic)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}
