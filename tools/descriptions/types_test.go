package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The types and their texts are invented.
const fruits = `package fruits

import other "example.com/other"

// Apple is a fruit.
// TODO: and more.
// +marker
//
// It grows:
//   - on trees
// and falls.
// ---
// Not for users.
type Apple struct {
	other.Common ` + "`json:\",inline\"`" + `
	// Weight in grams.
	// +optional
	Weight int ` + "`json:\"weight,omitempty\"`" + `
	// Without a name in JSON.
	Hidden int ` + "`json:\"-\"`" + `
	Silent int ` + "`json:\"silent\"`" + `
}

type (
	// Pear has the fields of Apple.
	Pear Apple
)
`

const common = `package other

type Common struct {
	// Where it comes from.
	Origin string ` + "`json:\"origin\"`" + `
}
`

func TestTextsOfTypesAndFields(t *testing.T) {
	types := newTypes()
	for location, source := range map[string]string{"example.com/fruits": fruits, "example.com/other": common} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "types.go"), []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := types.read(folder, location); err != nil {
			t.Fatal(err)
		}
	}
	for name, expected := range map[string]string{
		"Apple": "Apple is a fruit.\n\nIt grows:\n  - on trees\nand falls.",
		"Pear":  "Pear has the fields of Apple.",
	} {
		text, fields := types.describe("example.com/fruits." + name)
		if text != expected {
			t.Errorf("%s: %q", name, text)
		}
		if len(fields) != 2 || fields["weight"] != "Weight in grams." || fields["origin"] != "Where it comes from." {
			t.Errorf("%s: %q", name, fields)
		}
	}
}

func TestLinesOfTheFile(t *testing.T) {
	types := newTypes()
	types.byName["k8s.io/api/fruits/v1.Kiwi"] = declared{text: "Two\nlines\tand \\."}
	if got, want := string(written(types)), "io.k8s.api.fruits.v1.Kiwi\tTwo\\nlines\\tand \\\\.\n"; got != want {
		t.Errorf("%q", got)
	}
}
