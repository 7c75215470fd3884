package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strconv"
	"strings"
)

// declared is a type as its source file declares it.
type declared struct {
	text     string
	expr     ast.Expr
	location string            // import path of its package
	imports  map[string]string // import paths by the names that the file uses for them
}

// types are all exported types of the packages that were read, by "import/path.Name".
type types struct {
	byName map[string]declared
}

func newTypes() *types { return &types{map[string]declared{}} }

// read adds the types of the package in a folder. Generated files declare no types of the API.
func (t *types) read(folder, location string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return err
	}
	for _, path := range files {
		base := filepath.Base(path)
		if strings.HasSuffix(base, "_test.go") || strings.HasPrefix(base, "zz_generated") || strings.HasSuffix(base, ".pb.go") {
			continue
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		imports := importsOf(file)
		for _, declaration := range file.Decls {
			general, isGeneral := declaration.(*ast.GenDecl)
			if !isGeneral || general.Tok != token.TYPE {
				continue
			}
			for _, one := range general.Specs {
				spec := one.(*ast.TypeSpec)
				if !spec.Name.IsExported() {
					continue
				}
				comment := spec.Doc
				if comment == nil && !general.Lparen.IsValid() {
					comment = general.Doc
				}
				t.byName[location+"."+spec.Name.Name] = declared{described(comment), spec.Type, location, imports}
			}
		}
	}
	return nil
}

func importsOf(file *ast.File) map[string]string {
	imports := map[string]string{}
	for _, one := range file.Imports {
		path, err := strconv.Unquote(one.Path.Value)
		if err != nil {
			continue
		}
		name := path[strings.LastIndex(path, "/")+1:]
		if one.Name != nil {
			name = one.Name.Name
		}
		imports[name] = path
	}
	return imports
}

func (t *types) names() []string {
	names := make([]string, 0, len(t.byName))
	for name := range t.byName {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool { return publicName(names[i]) < publicName(names[j]) })
	return names
}

// describe returns the texts of a type and, by their names in JSON, of its fields.
func (t *types) describe(name string) (string, map[string]string) {
	fields := map[string]string{}
	t.addFields(name, fields, map[string]bool{})
	return t.byName[name].text, fields
}

func (t *types) addFields(name string, fields map[string]string, visited map[string]bool) {
	found, known := t.byName[name]
	if !known || visited[name] {
		return
	}
	visited[name] = true
	structure, isStruct := found.expr.(*ast.StructType)
	if !isStruct {
		t.addFields(nameOf(found.expr, found), fields, visited) // `type A B` has the fields of B
		return
	}
	for _, field := range structure.Fields.List {
		name, inline := jsonName(field)
		if inline {
			t.addFields(nameOf(field.Type, found), fields, visited)
		} else if name != "" {
			if text := described(field.Doc); text != "" {
				fields[name] = text
			}
		}
	}
}

// nameOf returns "import/path.Name" of a type that is used in the file of `from`.
func nameOf(expr ast.Expr, from declared) string {
	switch expr := expr.(type) {
	case *ast.StarExpr:
		return nameOf(expr.X, from)
	case *ast.Ident:
		return from.location + "." + expr.Name
	case *ast.SelectorExpr:
		if name, isName := expr.X.(*ast.Ident); isName {
			return from.imports[name.Name] + "." + expr.Sel.Name
		}
	}
	return ""
}

// jsonName returns the name of a field in JSON ("" if it has none), and whether its own fields take its place.
func jsonName(field *ast.Field) (name string, inline bool) {
	tag := ""
	if field.Tag != nil {
		if text, err := strconv.Unquote(field.Tag.Value); err == nil {
			tag = reflect.StructTag(text).Get("json")
		}
	}
	name, _, _ = strings.Cut(tag, ",")
	switch {
	case name == "-":
		return "", false
	case name != "":
		return name, false
	case len(field.Names) == 0:
		return "", true
	}
	return "", false
}

// described returns a comment as the OpenAPI documents of Kubernetes show it: paragraphs as one line each, lines that are
// indented (examples) as they are, without markers ("+optional"), TODO lines, and what follows a line with "---".
func described(comment *ast.CommentGroup) string {
	if comment == nil {
		return ""
	}
	text := ""
	// Removes the space or line break after the last line.
	endLine := func() {
		if text != "" {
			text = text[:len(text)-1]
		}
	}
	for _, line := range strings.Split(strings.TrimRight(comment.Text(), "\n"), "\n") {
		if line == "---" {
			break
		}
		line = strings.TrimRight(line, " ")
		start := strings.TrimLeft(line, " ")
		switch {
		case line == "":
			endLine()
			text += "\n\n"
		case strings.HasPrefix(start, "TODO"), strings.HasPrefix(start, "+"):
		case line[0] == ' ' || line[0] == '\t':
			endLine()
			text += "\n" + line + "\n"
		default:
			text += line + " "
		}
	}
	return strings.TrimSpace(text)
}
