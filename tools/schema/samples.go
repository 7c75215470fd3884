package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"log"
	"math/rand"
	"reflect"
	"sort"
	"strings"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// samples returns, for every kind, an empty and two random objects as the serializers of Kubernetes write them. Each is a line
// with group/version/kind, JSON, and protobuf in base64.
func samples(scheme *runtime.Scheme, c *collector) string {
	random := rand.New(rand.NewSource(2))
	jsonSerializer := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{})
	protobufSerializer := protobuf.NewSerializer(scheme, scheme)
	var kinds []*message
	for _, one := range c.messages {
		if len(one.kinds) > 0 && one.typeMeta {
			kinds = append(kinds, one)
		}
	}
	sort.Slice(kinds, func(i, j int) bool { return kinds[i].kinds[0].String() < kinds[j].kinds[0].String() })
	var out strings.Builder
	for _, one := range kinds {
		for round := 0; round < 3; round++ {
			value := reflect.New(one.goType)
			if round > 0 {
				sampler{random}.fill(value.Elem(), 0)
			}
			object := value.Interface().(runtime.Object)
			object.GetObjectKind().SetGroupVersionKind(one.kinds[0])
			var asJSON, asProtobuf bytes.Buffer
			if err := jsonSerializer.Encode(object, &asJSON); err != nil {
				log.Fatalf("%v: %v", one.goType, err)
			}
			if err := protobufSerializer.Encode(object, &asProtobuf); err != nil {
				log.Fatalf("%v: %v", one.goType, err)
			}
			fmt.Fprintf(&out, "%s/%s/%s\t%s\t%s\n", one.kinds[0].Group, one.kinds[0].Version, one.kinds[0].Kind,
				strings.TrimSpace(asJSON.String()), base64.StdEncoding.EncodeToString(asProtobuf.Bytes()))
		}
	}
	return out.String()
}

type sampler struct{ random *rand.Rand }

func (s sampler) fill(value reflect.Value, depth int) {
	moment := time.Unix(1700000000+s.random.Int63n(1000000), 123456000)
	switch target := value.Addr().Interface().(type) {
	case *metav1.Time:
		*target = metav1.NewTime(moment.Truncate(time.Second))
		return
	case *metav1.MicroTime:
		*target = metav1.NewMicroTime(moment)
		return
	case *resource.Quantity:
		*target = resource.MustParse([]string{"1500m", "2Gi", "0", "3"}[s.random.Intn(4)])
		return
	case *intstr.IntOrString:
		*target = []intstr.IntOrString{intstr.FromInt32(7), intstr.FromString("25%"), intstr.FromInt32(-1)}[s.random.Intn(3)]
		return
	case *runtime.RawExtension:
		target.Raw = []byte(`{"b":[1,2.5],"a":null}`)
		return
	case *metav1.FieldsV1:
		target.Raw = []byte(`{"f:spec":{"f:a":{}}}`)
		return
	case *apiextensions.JSON:
		target.Raw = []byte(`["x",{"y":true}]`)
		return
	case *apiextensions.JSONSchemaPropsOrBool:
		if *target = (apiextensions.JSONSchemaPropsOrBool{Allows: true}); s.random.Intn(2) == 0 {
			target.Schema = &apiextensions.JSONSchemaProps{Type: "string"}
		}
		return
	case *apiextensions.JSONSchemaPropsOrArray:
		if target.Schema = (&apiextensions.JSONSchemaProps{Type: "string"}); s.random.Intn(2) == 0 {
			*target = apiextensions.JSONSchemaPropsOrArray{JSONSchemas: []apiextensions.JSONSchemaProps{{Type: "integer"}}}
		}
		return
	case *apiextensions.JSONSchemaPropsOrStringArray:
		target.Property = []string{"x", "y"}
		return
	case *metav1.TypeMeta:
		return
	}
	s.fillPlain(value, depth)
}

func (s sampler) fillPlain(value reflect.Value, depth int) {
	switch value.Kind() {
	case reflect.Pointer:
		if depth < 9 {
			value.Set(reflect.New(value.Type().Elem()))
			s.fill(value.Elem(), depth)
		}
	case reflect.Struct:
		for i := 0; i < value.NumField(); i++ {
			optional := value.Field(i).Kind() != reflect.Struct
			if value.Type().Field(i).IsExported() && (!optional || s.random.Intn(10) < 9-depth) {
				s.fill(value.Field(i), depth+1)
			}
		}
	case reflect.Slice:
		if value.Type().Elem().Kind() == reflect.Uint8 {
			value.SetBytes([]byte{0xff, 0, byte(s.random.Intn(256))})
		} else if depth < 9 {
			value.Set(reflect.MakeSlice(value.Type(), 1, 1))
			s.fill(value.Index(0), depth+1)
		}
	case reflect.Map:
		value.Set(reflect.MakeMap(value.Type()))
		for _, name := range []string{"z", "a.b/c"} {
			element := reflect.New(value.Type().Elem()).Elem()
			s.fill(element, depth+1)
			value.SetMapIndex(reflect.ValueOf(name).Convert(value.Type().Key()), element)
		}
	case reflect.String:
		value.SetString([]string{"", "x", "a<b>&\"ü\u2028\n"}[s.random.Intn(3)])
	case reflect.Bool:
		value.SetBool(s.random.Intn(2) == 0)
	case reflect.Int32:
		value.SetInt(int64(int32(s.random.Uint32())))
	case reflect.Int64:
		value.SetInt(int64(s.random.Uint64()) >> s.random.Intn(40))
	case reflect.Float64:
		value.SetFloat(float64(s.random.Intn(1000)) / 8)
	}
}
