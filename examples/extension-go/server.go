// Serves the resource lamps of go.example.com/v1 from memory. Usage: server ROOT unix:/path, where ROOT contains proto/.
package main

import (
	"context"
	"encoding/json"
	"log"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/reflect/protoreflect"
)

type request struct { // the fields of mesh.v1.Request that this server reads
	Query string
	Body  []byte
	Info  struct{ Verb, Name, LabelSelector string }
}
type response struct {
	Code int    `json:"code"`
	Body []byte `json:"body"`
}
type chunk struct {
	Code     int    `json:"code,omitempty"`
	Data     []byte `json:"data,omitempty"`
	Complete bool   `json:"complete,omitempty"`
}
type describeRequest struct{}
type description object

func (*request) protoName() protoreflect.Name         { return "Request" }
func (*response) protoName() protoreflect.Name        { return "Response" }
func (*chunk) protoName() protoreflect.Name           { return "Chunk" }
func (*describeRequest) protoName() protoreflect.Name { return "DescribeRequest" }
func (description) protoName() protoreflect.Name      { return "Description" }

var described = description{"contractVersion": 1, "groupVersions": []object{{"group": "go.example.com", "version": "v1", "resources": []object{{
	"name": "lamps", "kind": "Lamp", "clusterScoped": true, "sharedWatches": true, "verbs": []string{"create", "delete", "get", "list", "patch", "watch"},
	"schema": `{"type": "object", "description": "A lamp in a house.", "properties": {"spec": {"type": "object", "properties": {
		"on": {"type": "boolean", "description": "Whether the lamp shines."}}}}}`}}}}}

func encoded(o object) []byte {
	text, _ := json.Marshal(o) // the values come from JSON
	return text
}

func call(server any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	var r request
	if err := decode(&r); err != nil {
		return nil, err
	}
	code, answer := server.(*lamps).handle(&r)
	return &response{code, encoded(answer)}, nil
}

func stream(server any, out grpc.ServerStream) error {
	var r request
	if err := out.RecvMsg(&r); err != nil {
		return err
	}
	if r.Info.Verb == "watch" {
		return server.(*lamps).watch(&r, out)
	}
	code, answer := server.(*lamps).handle(&r)
	return out.SendMsg(&chunk{code, encoded(answer), true})
}

func describe(_ any, out grpc.ServerStream) error {
	if err := out.RecvMsg(&describeRequest{}); err != nil {
		return err
	}
	if err := out.SendMsg(maps.Clone(described)); err != nil {
		return err
	}
	<-out.Context().Done() // the description does not change
	return nil
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: server ROOT unix:/path")
	}
	path := strings.TrimPrefix(os.Args[2], "unix:")
	messages, err := newCodec(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	syscall.Umask(0o077) // only this user may connect
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		log.Fatal(err)
	}
	os.Remove(path)
	listener, err := net.Listen("unix", path)
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer(grpc.ForceServerCodec(messages))
	server.RegisterService(&grpc.ServiceDesc{ServiceName: "apimesh.mesh.v1.Delegate", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Call", Handler: call}},
		Streams: []grpc.StreamDesc{{StreamName: "Stream", Handler: stream, ServerStreams: true}, {StreamName: "Describe", Handler: describe, ServerStreams: true}},
	}, newLamps())
	log.Printf("serving go.example.com/v1 at %s", os.Args[2])
	log.Fatal(server.Serve(listener))
}
