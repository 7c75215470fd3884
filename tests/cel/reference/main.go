// Evaluates expressions with the CEL environment of kube-apiserver and prints what it answers, one JSON object per line.
//
//	go run . ../document.json ../schema.json < expressions > results
//	go run . rules ../rule_schemas.json < rules > results
//	go run . versions < expressions > results
//	go run . measure ../measured_rules.json
//
// An input line is an expression; "⏎" stands for a line break in it.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
	"k8s.io/apiserver/pkg/cel/openapi"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

type answer struct {
	Expr  string `json:"expr"`
	Type  string `json:"type,omitempty"`
	Value string `json:"value,omitempty"`
	// What the compiler says; no other field is set.
	Compile string `json:"compile,omitempty"`
	// What the planner says: it evaluates constants.
	Plan  string `json:"plan,omitempty"`
	Error string `json:"error,omitempty"`
	Cost  uint64 `json:"cost"`
	Min   uint64 `json:"min"`
	Max   uint64 `json:"max"`
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(path string) []byte {
	data, err := os.ReadFile(path)
	must(err)
	return data
}

// Decodes numbers as kube-apiserver does: integral ones are int64.
func document(data []byte) map[string]any {
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	decoder.UseNumber()
	var out map[string]any
	must(decoder.Decode(&out))
	return numbers(out).(map[string]any)
}

func numbers(v any) any {
	switch t := v.(type) {
	case json.Number:
		if i, err := t.Int64(); err == nil {
			return i
		}
		f, err := t.Float64()
		must(err)
		return f
	case map[string]any:
		for k := range t {
			t[k] = numbers(t[k])
		}
	case []any:
		for i := range t {
			t[i] = numbers(t[i])
		}
	}
	return v
}

func format(v ref.Val) string {
	switch t := v.(type) {
	case apiservercel.IP:
		return fmt.Sprintf("ip(%q)", t.Addr.String())
	case apiservercel.CIDR:
		return fmt.Sprintf("cidr(%q)", t.Prefix.String())
	case apiservercel.Quantity:
		return fmt.Sprintf("quantity(%q)", t.Quantity.String())
	case *apiservercel.Quantity:
		return fmt.Sprintf("quantity(%q)", t.Quantity.String())
	case apiservercel.URL:
		return fmt.Sprintf("url(%q)", t.URL.String())
	case apiservercel.Semver:
		return fmt.Sprintf("semver(%q)", t.Version.String())
	case apiservercel.Format:
		return fmt.Sprintf("format(%q)", t.Name)
	case *types.Optional:
		if !t.HasValue() {
			return "optional.none()"
		}
		return "optional.of(" + format(t.GetValue()) + ")"
	case traits.Lister:
		items := []string{}
		for it := t.Iterator(); it.HasNext() == types.True; {
			items = append(items, format(it.Next()))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case traits.Mapper:
		items := []string{}
		for it := t.Iterator(); it.HasNext() == types.True; {
			k := it.Next()
			items = append(items, format(k)+": "+format(t.Get(k)))
		}
		sort.Strings(items)
		return "{" + strings.Join(items, ", ") + "}"
	case *types.Type:
		return "type(" + t.String() + ")"
	case types.Double, types.Int, types.Uint, types.Bool, types.String, types.Bytes, types.Null, types.Timestamp, types.Duration:
		return types.Format(v)
	}
	return "<" + v.Type().TypeName() + ">"
}

func environmentFor(schema *spec.Schema) *cel.Env {
	wrapped := &openapi.Schema{Schema: schema}
	self := common.SchemaDeclType(wrapped, true).MaybeAssignTypeName("selfType")
	base := environment.MustBaseEnvSet(version.MajorMinor(1, 36))
	extended, err := base.Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions: []cel.EnvOption{
			library.JSONPatch(),
			cel.Variable("object", cel.DynType),
			cel.Variable("params", cel.MapType(cel.StringType, cel.DynType)),
			cel.Variable("i", cel.IntType),
			cel.Variable("u", cel.UintType),
			cel.Variable("d", cel.DoubleType),
			cel.Variable("s", cel.StringType),
			cel.Variable("b", cel.BoolType),
			cel.Variable("x", cel.BytesType),
			cel.Variable("ints", cel.ListType(cel.IntType)),
			cel.Variable("strs", cel.ListType(cel.StringType)),
			cel.Variable("labels", cel.MapType(cel.StringType, cel.StringType)),
			cel.Variable("t", cel.TimestampType),
			cel.Variable("dur", cel.DurationType),
			cel.Variable("absent", cel.StringType),
			cel.Variable("self", self.CelType()),
		},
		DeclTypes: []*apiservercel.DeclType{self},
	})
	must(err)
	env, err := extended.Env(environment.StoredExpressions)
	must(err)
	return env
}

func variables(doc map[string]any, schema *spec.Schema) map[string]any {
	return map[string]any{
		"object": doc["object"],
		"params": doc["params"],
		"i":      int64(7),
		"u":      uint64(9),
		"d":      2.5,
		"s":      "grüße",
		"b":      true,
		"x":      []byte("bytes"),
		"ints":   []any{int64(1), int64(2), int64(3)},
		"strs":   []any{"a", "b", "c"},
		"labels": map[string]any{"app": "web", "tier": "front"},
		"t":      types.String("2026-03-04T05:06:07.891Z").ConvertToType(types.TimestampType),
		"dur":    types.String("90m30.5s").ConvertToType(types.DurationType),
		"self":   common.UnstructuredToVal(doc["self"], &openapi.Schema{Schema: schema}),
	}
}

func evaluate(env *cel.Env, vars map[string]any, expr string) (out answer, valid bool) {
	// An expression that makes the reference panic has no answer.
	defer func() { valid = recover() == nil }()
	out.Expr = expr
	source := strings.ReplaceAll(expr, "⏎", "\n")
	ast, issues := env.Compile(source)
	if issues != nil {
		out.Compile = issues.String()
		return out, true
	}
	out.Type = ast.OutputType().String()
	if estimate, err := env.EstimateCost(ast, &library.CostEstimator{}); err == nil {
		out.Min, out.Max = estimate.Min, estimate.Max
	}
	program, err := env.Program(ast)
	if err != nil {
		out.Plan = err.Error()
		return out, true
	}
	value, details, err := program.Eval(vars)
	if details != nil && details.ActualCost() != nil {
		out.Cost = *details.ActualCost()
	}
	if err != nil {
		out.Error = err.Error()
		return out, true
	}
	out.Value = format(value)
	return out, true
}

func main() {
	switch os.Args[1] {
	case "rules":
		compileRules(os.Args[2])
		return
	case "versions":
		compileInVersions()
		return
	case "measure":
		measureRules(os.Args[2])
		return
	}
	doc := document(read(os.Args[1]))
	schema := &spec.Schema{}
	must(json.Unmarshal(read(os.Args[2]), schema))
	env := environmentFor(schema)
	vars := variables(doc, schema)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	writer := json.NewEncoder(os.Stdout)
	writer.SetEscapeHTML(false)
	for lines.Scan() {
		if answer, valid := evaluate(env, vars, lines.Text()); valid {
			must(writer.Encode(answer))
		}
	}
}
