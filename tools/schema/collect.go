package main

import (
	"log"
	"reflect"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

type field struct {
	goName, jsonName string
	number           int
	protoType        string // "string", "k8s.core.v1.Container", "map<string, bytes>"
	repeated         bool
	always, pointer  bool
	required, inline bool
	listType         string
	listKeys         []string
	mapType          string
	mergeKey         string
	patchStrategies  []string
	enums            []string
	format           string
	goTypeName       string // the Go type in error messages, if it cannot be derived from the field
	defaultJSON      string
}

type message struct {
	goType   reflect.Type
	kinds    []schema.GroupVersionKind
	typeMeta bool
	atomic   bool
	shape    string
	fields   []*field
}

type file struct {
	group    group
	messages []*message
	imports  map[string]bool
}

// collector turns Go types into messages, following every type that they use.
type collector struct {
	facts    openAPIFacts
	messages map[reflect.Type]*message
	files    map[string]*file
}

func newCollector(facts openAPIFacts) *collector {
	return &collector{facts, map[reflect.Type]*message{}, map[string]*file{}}
}

func (c *collector) addRoot(goType reflect.Type, kind schema.GroupVersionKind) {
	added := c.add(goType)
	added.kinds = append(added.kinds, kind)
}

// Types whose JSON encoding does not follow from their Go fields.
var shapes = map[string]string{
	"meta_v1.Time": "TIME", "meta_v1.MicroTime": "MICRO_TIME", "meta_v1.Duration": "DURATION", "meta_v1.FieldsV1": "FIELDS_V1",
	"quantity.Quantity": "QUANTITY", "intstr.IntOrString": "INT_OR_STRING", "runtime.RawExtension": "ANY",
	"apiextensions_v1.JSON": "ANY", "apiextensions_v1.JSONSchemaPropsOrBool": "SCHEMA_OR_BOOL",
	"apiextensions_v1.JSONSchemaPropsOrArray":       "SCHEMA_OR_ARRAY",
	"apiextensions_v1.JSONSchemaPropsOrStringArray": "SCHEMA_OR_STRINGS",
}

// The protobuf fields of these types, if they do not follow from the Go fields.
var shapeFields = map[string][]*field{
	"TIME":       {{jsonName: "seconds", number: 1, protoType: "int64"}, {jsonName: "nanos", number: 2, protoType: "int32"}},
	"MICRO_TIME": {{jsonName: "seconds", number: 1, protoType: "int64"}, {jsonName: "nanos", number: 2, protoType: "int32"}},
	"DURATION":   {{jsonName: "duration", number: 1, protoType: "int64"}},
	"QUANTITY":   {{jsonName: "string", number: 1, protoType: "string"}},
	"ANY":        {{jsonName: "raw", number: 1, protoType: "bytes"}},
	"FIELDS_V1":  {{jsonName: "raw", number: 1, protoType: "bytes"}},
	"STRINGS":    {{jsonName: "items", number: 1, protoType: "string", repeated: true}},
}

func (c *collector) add(goType reflect.Type) *message {
	if found, ok := c.messages[goType]; ok {
		return found
	}
	group, ok := groupOfPackage(goType.PkgPath())
	if !ok {
		log.Fatalf("%v is in no known package", goType)
	}
	target := c.files[group.file]
	if target == nil {
		target = &file{group: group, imports: map[string]bool{}}
		c.files[group.file] = target
	}
	added := &message{goType: goType}
	c.messages[goType] = added
	target.messages = append(target.messages, added)
	definition := c.facts.find(goType)
	if definition != nil {
		added.atomic = extensionString(definition.Extensions, "x-kubernetes-map-type") == "atomic"
	}
	added.shape = shapes[group.file+"."+goType.Name()]
	if goType.Kind() == reflect.Slice {
		added.shape = "STRINGS"
	}
	if fields, ok := shapeFields[added.shape]; ok {
		added.fields = fields
		return added
	}
	for i := 0; i < goType.NumField(); i++ {
		c.addField(target, added, goType.Field(i), definition)
	}
	return added
}

func (c *collector) addField(target *file, parent *message, member reflect.StructField, definition *spec.Schema) {
	tag := strings.Split(member.Tag.Get("json"), ",")
	inline := member.Anonymous && tag[0] == ""
	if inline && member.Type.Name() == "TypeMeta" {
		parent.typeMeta = true
		return
	}
	numberTag := strings.Split(member.Tag.Get("protobuf"), ",")
	if len(numberTag) < 2 {
		log.Printf("skipped, no protobuf number: %v.%s", parent.goType, member.Name)
		return
	}
	number, err := strconv.Atoi(numberTag[1])
	if err != nil {
		log.Fatalf("%v.%s: %v", parent.goType, member.Name, err)
	}
	added := &field{goName: member.Name, jsonName: tag[0], number: number, inline: inline}
	if inline || tag[0] == "" {
		added.jsonName = strings.ToLower(member.Name[:1]) + member.Name[1:]
	}
	goType := member.Type
	if goType.Kind() == reflect.Pointer {
		added.pointer = true
		goType = goType.Elem()
	}
	added.protoType, added.repeated = c.protoType(target, goType)
	if name := strings.TrimPrefix(goType.String(), "*"); name != plainName(goType) {
		added.goTypeName = name
	}
	omitempty, omitzero := false, false
	for _, option := range tag[1:] {
		omitempty = omitempty || option == "omitempty"
		omitzero = omitzero || option == "omitzero"
	}
	added.always = !omitempty && !omitzero || goType.Kind() == reflect.Struct && !added.pointer && !omitzero
	added.mergeKey = member.Tag.Get("patchMergeKey")
	if strategies := member.Tag.Get("patchStrategy"); strategies != "" {
		added.patchStrategies = strings.Split(strategies, ",")
	}
	if definition != nil && !inline {
		if property, ok := definition.Properties[added.jsonName]; ok {
			addOpenAPIFacts(added, &property)
		}
		for _, name := range definition.Required {
			added.required = added.required || name == added.jsonName
		}
	}
	parent.fields = append(parent.fields, added)
}

func addOpenAPIFacts(target *field, property *spec.Schema) {
	target.listType = extensionString(property.Extensions, "x-kubernetes-list-type")
	target.listKeys = extensionStrings(property.Extensions, "x-kubernetes-list-map-keys")
	target.mapType = extensionString(property.Extensions, "x-kubernetes-map-type")
	target.enums = enumStrings(property)
	if property.Items != nil && property.Items.Schema != nil && len(target.enums) == 0 {
		target.enums = enumStrings(property.Items.Schema)
	}
	if len(property.Type) == 1 && property.Type[0] == "string" && property.Format != "byte" {
		target.format = property.Format
	}
}

func (c *collector) protoType(target *file, goType reflect.Type) (name string, repeated bool) {
	switch goType.Kind() {
	case reflect.String:
		return "string", false
	case reflect.Bool:
		return "bool", false
	case reflect.Int32:
		return "int32", false
	case reflect.Int64:
		return "int64", false
	case reflect.Float64:
		return "double", false
	case reflect.Struct:
		return c.reference(target, goType), false
	case reflect.Slice:
		if goType.Elem().Kind() == reflect.Uint8 {
			return "bytes", false
		}
		if _, isMessage := reflect.PointerTo(goType).MethodByName("Marshal"); isMessage {
			return c.reference(target, goType), false
		}
		element := goType.Elem()
		if element.Kind() == reflect.Pointer {
			element = element.Elem()
		}
		name, _ = c.protoType(target, element)
		return name, true
	case reflect.Map:
		if goType.Key().Kind() == reflect.String {
			if value, repeated := c.protoType(target, goType.Elem()); !repeated {
				return "map<string, " + value + ">", false
			}
		}
	}
	log.Fatalf("no protobuf type for %v", goType)
	return "", false
}

// plainName returns how Go would print a type that consisted only of structs and basic types.
func plainName(goType reflect.Type) string {
	switch goType.Kind() {
	case reflect.Slice:
		return "[]" + plainName(goType.Elem())
	case reflect.Map:
		return "map[string]" + plainName(goType.Elem())
	case reflect.Struct:
		return goType.String()
	}
	return goType.Kind().String()
}

func (c *collector) reference(target *file, goType reflect.Type) string {
	c.add(goType)
	group, _ := groupOfPackage(goType.PkgPath())
	if group.file != target.group.file {
		target.imports[group.file] = true
	}
	return packageOf(group) + "." + goType.Name()
}

func packageOf(g group) string { return "k8s." + strings.ReplaceAll(g.file, "_", ".") }
