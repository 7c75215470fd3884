package main

// The versions of Kubernetes whose environments compile an expression.

import (
	"bufio"
	"encoding/json"
	"os"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

const firstMinor, lastMinor = 25, 36

type versionsAnswer struct {
	Expr   string `json:"expr"`
	Minors []int  `json:"minors"`
}

func environmentOf(minor uint) *cel.Env {
	extended, err := environment.MustBaseEnvSet(version.MajorMinor(1, minor)).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions: []cel.EnvOption{
			cel.Variable("authorizer", library.AuthorizerType),
		},
	})
	must(err)
	env, err := extended.Env(environment.NewExpressions)
	must(err)
	return env
}

func compileInVersions() {
	environments := []*cel.Env{}
	for minor := firstMinor; minor <= lastMinor; minor++ {
		environments = append(environments, environmentOf(uint(minor)))
	}
	writer := json.NewEncoder(os.Stdout)
	writer.SetEscapeHTML(false)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		answer := versionsAnswer{Expr: lines.Text(), Minors: []int{}}
		for i, env := range environments {
			if _, issues := env.Compile(lines.Text()); issues == nil {
				answer.Minors = append(answer.Minors, firstMinor+i)
			}
		}
		must(writer.Encode(answer))
	}
}
