// Derives the descriptions of kinds and fields from the Go types of Kubernetes. README.md describes the result.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
)

// format is the number in the first line of the file. lib/schema/openapi/descriptions.cc reads this format.
const format = 1

// sources are the modules and, in each, the folders whose types are part of the API. "*/*" are all groups and versions.
var sources = []struct {
	module  string
	folders []string
}{
	{"k8s.io/api", []string{"*/*"}},
	{"k8s.io/apimachinery", []string{"pkg/apis/meta/v1", "pkg/api/resource", "pkg/util/intstr", "pkg/runtime", "pkg/version"}},
	{"k8s.io/apiextensions-apiserver", []string{"pkg/apis/apiextensions/v1"}},
	{"k8s.io/kube-aggregator", []string{"pkg/apis/apiregistration/v1"}},
}

func main() {
	kubernetes := flag.String("kubernetes", "", "version of Kubernetes, such as v1.36.3")
	out := flag.String("out", "", "file to write")
	flag.Parse()
	if err := run(*kubernetes, *out); err != nil {
		fmt.Fprintln(os.Stderr, "descriptions:", err)
		os.Exit(1)
	}
}

func run(kubernetes, out string) error {
	minor, found := strings.CutPrefix(kubernetes, "v1.")
	if !found || out == "" {
		return errors.New("usage: main -kubernetes v1.X.Y -out FILE")
	}
	folders, err := download("v0." + minor)
	if err != nil {
		return err
	}
	types := newTypes()
	for _, source := range sources {
		root, found := folders[source.module]
		if !found {
			return fmt.Errorf("go mod download did not report the folder of %s", source.module)
		}
		for _, pattern := range source.folders {
			matches, err := filepath.Glob(filepath.Join(root, pattern))
			if err != nil {
				return err
			}
			for _, folder := range matches {
				relative, err := filepath.Rel(root, folder)
				if err != nil {
					return err
				}
				if err := types.read(folder, source.module+"/"+filepath.ToSlash(relative)); err != nil {
					return err
				}
			}
		}
	}
	body := written(types)
	if len(body) == 0 {
		return errors.New("the modules contain no descriptions")
	}
	head := fmt.Sprintf("apimesh-descriptions %d %s %x\n", format, kubernetes, sha256.Sum256(body))
	return replace(out, append([]byte(head), body...))
}

// download returns the folder of each module in the module cache.
func download(version string) (map[string]string, error) {
	arguments := []string{"mod", "download", "-json"}
	for _, source := range sources {
		arguments = append(arguments, source.module+"@"+version)
	}
	command := exec.Command("go", arguments...)
	command.Dir = os.TempDir() // outside of any module
	command.Stderr = os.Stderr
	output, failed := command.Output()
	folders := map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var module struct{ Path, Dir, Error string }
		if err := decoder.Decode(&module); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go mod download: %w", err)
		}
		if module.Error != "" {
			return nil, fmt.Errorf("%s: %s", module.Path, module.Error)
		}
		folders[module.Path] = module.Dir
	}
	if failed != nil {
		return nil, fmt.Errorf("go mod download: %w", failed)
	}
	return folders, nil
}

// written returns the lines of the file without the first one.
func written(types *types) []byte {
	var out bytes.Buffer
	for _, name := range types.names() {
		text, fields := types.describe(name)
		if text == "" && len(fields) == 0 {
			continue
		}
		fmt.Fprintf(&out, "%s\t%s\n", publicName(name), escaped(text))
		sorted := make([]string, 0, len(fields))
		for field := range fields {
			sorted = append(sorted, field)
		}
		sort.Strings(sorted)
		for _, field := range sorted {
			fmt.Fprintf(&out, "\t%s\t%s\n", field, escaped(fields[field]))
		}
	}
	return out.Bytes()
}

// publicName returns "io.k8s.api.core.v1.Pod" for "k8s.io/api/core/v1.Pod".
func publicName(name string) string {
	return "io.k8s." + strings.ReplaceAll(strings.TrimPrefix(name, "k8s.io/"), "/", ".")
}

func escaped(text string) string {
	return strings.NewReplacer("\\", "\\\\", "\n", "\\n", "\t", "\\t", "\r", "").Replace(text)
}

// replace writes a file so that a reader sees the old one or the new one.
func replace(path string, contents []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(contents)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
