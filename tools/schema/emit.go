package main

import (
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func emit(f *file) string {
	var out strings.Builder
	fmt.Fprintf(&out, "// Made by tools/schema from the Go types of the Kubernetes API; see proto/k8s/annotations.proto.\n")
	fmt.Fprintf(&out, "syntax = \"proto2\";\npackage %s;\n\nimport \"proto/k8s/annotations.proto\";\n", packageOf(f.group))
	var imports []string
	for name := range f.imports {
		imports = append(imports, name)
	}
	sort.Strings(imports)
	for _, name := range imports {
		fmt.Fprintf(&out, "import \"proto/k8s/%s.proto\";\n", name)
	}
	fmt.Fprintf(&out, "\noption (apimesh.k8s.definitions) = %q;\n", definitionPrefix(f.group.goPackage))
	sort.Slice(f.messages, func(i, j int) bool { return f.messages[i].goType.Name() < f.messages[j].goType.Name() })
	for _, m := range f.messages {
		emitMessage(&out, m)
	}
	return out.String()
}

func emitMessage(out *strings.Builder, m *message) {
	fmt.Fprintf(out, "\nmessage %s {\n", m.goType.Name())
	if m.shape != "" {
		fmt.Fprintf(out, "  option (apimesh.k8s.shape) = %s;\n", m.shape)
	}
	sort.Slice(m.kinds, func(i, j int) bool { return m.kinds[i].String() < m.kinds[j].String() })
	for _, kind := range m.kinds {
		fmt.Fprintf(out, "  option (apimesh.k8s.kind) = {group: %q version: %q kind: %q};\n", kind.Group, kind.Version, kind.Kind)
	}
	if m.typeMeta {
		fmt.Fprintf(out, "  option (apimesh.k8s.type_meta) = true;\n")
	}
	if m.atomic {
		fmt.Fprintf(out, "  option (apimesh.k8s.atomic) = true;\n")
	}
	for _, one := range m.fields {
		emitField(out, one)
	}
	out.WriteString("}\n")
}

func emitField(out *strings.Builder, f *field) {
	label := "optional "
	if f.repeated {
		label = "repeated "
	} else if strings.HasPrefix(f.protoType, "map<") {
		label = ""
	}
	name, options := f.jsonName, []string{}
	if !identifier.MatchString(name) {
		name = strings.ToLower(f.goName[:1]) + f.goName[1:]
		options = append(options, fmt.Sprintf("json_name = %q", f.jsonName))
	}
	if facts := factsOf(f); facts != "" {
		options = append(options, fmt.Sprintf("(apimesh.k8s.field) = {%s}", facts))
	}
	suffix := ""
	if len(options) > 0 {
		suffix = " [" + strings.Join(options, ", ") + "]"
	}
	fmt.Fprintf(out, "  %s%s %s = %d%s;\n", label, f.protoType, name, f.number, suffix)
}

func factsOf(f *field) string {
	var facts []string
	flag := func(name string, set bool) {
		if set {
			facts = append(facts, name+": true")
		}
	}
	flag("always", f.always && !f.inline)
	flag("pointer", f.pointer)
	flag("required", f.required)
	flag("inline", f.inline)
	if f.listType != "" {
		facts = append(facts, "list: "+strings.ToUpper(f.listType))
	}
	facts = append(facts, strs("keys", f.listKeys)...)
	flag("atomic", f.mapType == "atomic")
	if f.mapType == "granular" {
		facts = append(facts, "atomic: false")
	}
	for _, strategy := range f.patchStrategies {
		flag(map[string]string{"merge": "patch_merge", "retainKeys": "patch_retain_keys", "replace": "patch_replace"}[strategy], true)
	}
	if f.mergeKey != "" {
		facts = append(facts, "merge_key: "+strconv.Quote(f.mergeKey))
	}
	facts = append(facts, strs("enums", f.enums)...)
	if f.format != "" {
		facts = append(facts, "format: "+strconv.Quote(f.format))
	}
	if f.goTypeName != "" {
		facts = append(facts, "go_type: "+strconv.Quote(f.goTypeName))
	}
	if f.defaultJSON != "" {
		facts = append(facts, "default_json: '"+strings.ReplaceAll(f.defaultJSON, "'", "\\'")+"'")
	}
	return strings.Join(facts, " ")
}

func strs(name string, values []string) []string {
	var out []string
	for _, value := range values {
		out = append(out, name+": "+strconv.Quote(value))
	}
	return out
}
