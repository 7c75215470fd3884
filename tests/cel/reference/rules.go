package main

// Rules of CustomResourceDefinitions: what kube-apiserver says when it compiles them, and how long it takes to evaluate them.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/google/cel-go/interpreter"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	crdcel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

type ruleAnswer struct {
	Schema      string `json:"schema"`
	Expr        string `json:"expr"`
	Error       string `json:"error,omitempty"`
	Cost        uint64 `json:"cost"`
	Cardinality uint64 `json:"cardinality"`
	OldSelf     bool   `json:"oldSelf"`
}

var selfType = regexp.MustCompile(`selfType\d+`)

func structural(raw json.RawMessage) *structuralschema.Structural {
	external := &apiextensionsv1.JSONSchemaProps{}
	must(json.Unmarshal(raw, external))
	internal := &apiextensions.JSONSchemaProps{}
	must(apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(external, internal, nil))
	schema, err := structuralschema.NewStructural(internal)
	must(err)
	return schema
}

func compileRule(schema *structuralschema.Structural, rule string) crdcel.CompilationResult {
	withRule := *schema
	withRule.XValidations = apiextensionsv1.ValidationRules{{Rule: rule}}
	declared := model.SchemaDeclType(schema, schema.XEmbeddedResource)
	results, err := crdcel.Compile(&withRule, declared, celconfig.PerCallLimit,
		environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), crdcel.StoredExpressionsEnvLoader())
	must(err)
	return results[0]
}

// compileRules reads lines with the name of a schema, a tab and a rule.
func compileRules(path string) {
	raw := map[string]json.RawMessage{}
	must(json.Unmarshal(read(path), &raw))
	schemas := map[string]*structuralschema.Structural{}
	for name, schema := range raw {
		schemas[name] = structural(schema)
	}
	writer := json.NewEncoder(os.Stdout)
	writer.SetEscapeHTML(false)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		name, rule, _ := strings.Cut(lines.Text(), "\t")
		result := compileRule(schemas[name], rule)
		answer := ruleAnswer{Schema: name, Expr: rule, Cost: result.MaxCost, Cardinality: result.MaxCardinality, OldSelf: result.UsesOldSelf}
		if result.Error != nil {
			answer.Error = selfType.ReplaceAllString(result.Error.Detail, "selfType")
		}
		must(writer.Encode(answer))
	}
}

type activation struct{ self any }

func (a *activation) ResolveName(name string) (any, bool) {
	return a.self, name == crdcel.ScopedVarName
}
func (a *activation) Parent() interpreter.Activation { return nil }

func cpu() time.Duration {
	usage := syscall.Rusage{}
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// measureRules prints the CPU time of one evaluation of each rule, as a write of an object evaluates it.
func measureRules(path string) {
	var rules []struct {
		Name, Rule string
		Schema     json.RawMessage
		Object     map[string]any
	}
	decoder := json.NewDecoder(bytes.NewReader(read(path)))
	decoder.UseNumber()
	must(decoder.Decode(&rules))
	for _, rule := range rules {
		schema := structural(rule.Schema)
		result := compileRule(schema, rule.Rule)
		if result.Error != nil {
			must(fmt.Errorf("%s: %s", rule.Name, result.Error.Detail))
		}
		object := numbers(rule.Object)
		evaluate := func() {
			value, _, err := result.Program.ContextEval(context.Background(), &activation{crdcel.UnstructuredToVal(object, schema)})
			must(err)
			if value.Value() != true {
				must(fmt.Errorf("%s is false", rule.Name))
			}
		}
		for i := 0; i < 1000; i++ {
			evaluate()
		}
		count, start := 0, cpu()
		for cpu()-start < 300*time.Millisecond {
			for i := 0; i < 500; i++ {
				evaluate()
			}
			count += 500
		}
		fmt.Printf("%s\t%.0f\n", rule.Name, float64((cpu()-start).Nanoseconds())/float64(count))
	}
}
