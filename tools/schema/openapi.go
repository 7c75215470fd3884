package main

import (
	"reflect"
	"strings"

	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kubernetes/pkg/generated/openapi"
)

// openAPIFacts are the definitions of the OpenAPI document of Kubernetes, by definition name.
type openAPIFacts struct {
	definitions map[string]common.OpenAPIDefinition
}

func newOpenAPIFacts() openAPIFacts {
	ref := func(path string) spec.Ref { return spec.MustCreateRef("#/definitions/" + path) }
	return openAPIFacts{openapi.GetOpenAPIDefinitions(ref)}
}

func (f openAPIFacts) find(goType reflect.Type) *spec.Schema {
	if found, ok := f.definitions[definitionName(goType)]; ok {
		return &found.Schema
	}
	return nil
}

// definitionName turns k8s.io/api/core/v1.Pod into io.k8s.api.core.v1.Pod.
func definitionName(goType reflect.Type) string {
	return definitionPrefix(goType.PkgPath()) + "." + goType.Name()
}

func definitionPrefix(goPackage string) string {
	parts := strings.Split(goPackage, "/")
	host := strings.Split(parts[0], ".")
	for left, right := 0, len(host)-1; left < right; left, right = left+1, right-1 {
		host[left], host[right] = host[right], host[left]
	}
	return strings.Join(append(host, parts[1:]...), ".")
}

func extensionString(extensions spec.Extensions, name string) string {
	text, _ := extensions.GetString(name)
	return text
}

func extensionStrings(extensions spec.Extensions, name string) []string {
	if list, ok := extensions[name].([]interface{}); ok {
		var texts []string
		for _, one := range list {
			texts = append(texts, one.(string))
		}
		return texts
	}
	list, _ := extensions.GetStringSlice(name)
	return list
}

func enumStrings(schema *spec.Schema) []string {
	var texts []string
	for _, value := range schema.Enum {
		if text, ok := value.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}
