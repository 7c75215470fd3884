// Command schema derives proto/k8s/*.proto and the table of built-in resources from the Go packages of the Kubernetes API.
// It copies names, numbers, types, tags and list types, but no descriptions.
//
//	go run . -out ../../proto/k8s -resources ../../services/core-api/data/resources.tsv
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func main() {
	out := flag.String("out", "", "folder for the .proto files")
	resources := flag.String("resources", "", "file for the table of resources; empty: none")
	spec := flag.String("spec", "", "folder api/ of k8s.io/kubernetes, for the table of resources")
	samplesFile := flag.String("samples", "", "file for sample objects, for the tests of lib/codec; empty: none")
	rounds := flag.Int("rounds", 300, "random objects a kind, from which constant defaults are told")
	flag.Parse()
	log.SetFlags(0)

	scheme := newScheme()
	facts := newOpenAPIFacts()
	collector := newCollector(facts)
	served := servedKinds(*spec)
	for _, group := range groups {
		for kind, goType := range scheme.KnownTypes(group.version) {
			if goType.PkgPath() == group.goPackage && (isStable(group.version) || served[group.version.WithKind(strings.TrimSuffix(kind, "List"))]) {
				collector.addRoot(goType, schema.GroupVersionKind{Group: group.version.Group, Version: group.version.Version, Kind: kind})
			}
		}
	}
	for _, object := range metaKinds {
		goType := reflect.TypeOf(object)
		collector.addRoot(goType, schema.GroupVersionKind{Version: "v1", Kind: goType.Name()})
	}
	for _, value := range metaTypes {
		collector.add(reflect.TypeOf(value))
	}
	findConstantDefaults(scheme, collector, *rounds)
	adjust(collector)

	var names []string
	for name := range collector.files {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		write(filepath.Join(*out, name+".proto"), emit(collector.files[name]))
	}
	if *resources != "" {
		write(*resources, resourceTable(*spec))
	}
	if *samplesFile != "" {
		write(*samplesFile, samples(scheme, collector))
	}
	fmt.Printf("%d files, %d messages\n", len(names), len(collector.messages))
}

// isStable returns whether kube-apiserver serves the version by default. Of all other versions, only the kinds that are still served
// are converted, because some contain kinds of the past.
func isStable(version schema.GroupVersion) bool {
	return !strings.Contains(version.Version, "alpha") && !strings.Contains(version.Version, "beta")
}

func write(path, text string) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
}
