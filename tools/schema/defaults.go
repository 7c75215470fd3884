package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"reflect"
	"sort"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

var timePointer = reflect.TypeOf(&metav1.Time{})

// place identifies a field of a struct type, independent of where the struct is used.
type place struct {
	goType reflect.Type
	index  int
}

// findConstantDefaults runs the defaulting of Kubernetes over random objects. An unset field that always gets the same value,
// independent of the other fields, has a constant default.
func findConstantDefaults(scheme *runtime.Scheme, c *collector, rounds int) {
	random := rand.New(rand.NewSource(1))
	outcomes := map[place]map[string]int{}
	var roots []*message
	for _, one := range c.messages {
		if len(one.kinds) > 0 {
			roots = append(roots, one)
		}
	}
	sort.Slice(roots, func(i, j int) bool { return fmt.Sprint(roots[i].kinds) < fmt.Sprint(roots[j].kinds) })
	for _, root := range roots {
		if !scheme.Recognizes(root.kinds[0]) {
			continue
		}
		for round := 0; round < rounds; round++ {
			value := reflect.New(root.goType)
			f := filler{random, c}
			f.fill(value.Elem(), "", 0)
			before := value.Interface().(runtime.Object)
			if after, ok := applyDefaults(scheme, before); ok {
				compare(value.Elem(), reflect.ValueOf(after).Elem(), outcomes)
			}
		}
	}
	for where, values := range outcomes {
		if len(values) != 1 {
			continue
		}
		for text, count := range values {
			member := where.goType.Field(where.index)
			if text == "" || count < 3 || member.Type == timePointer { // the default is the current time
				continue
			}
			for _, one := range c.messages[where.goType].fields {
				if one.goName == member.Name {
					one.defaultJSON = text
				}
			}
		}
	}
}

// applyDefaults returns a copy with defaults. ok is false if a defaulting function panics, which some do with random input.
func applyDefaults(scheme *runtime.Scheme, object runtime.Object) (after runtime.Object, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	after = object.DeepCopyObject()
	scheme.Default(after)
	return after, true
}

// compare records the value after defaulting of every unset field. An empty text means that the field is still unset.
func compare(before, after reflect.Value, outcomes map[place]map[string]int) {
	switch before.Kind() {
	case reflect.Pointer:
		if !before.IsNil() && !after.IsNil() {
			compare(before.Elem(), after.Elem(), outcomes)
		}
	case reflect.Slice:
		for i := 0; i < before.Len() && i < after.Len(); i++ {
			compare(before.Index(i), after.Index(i), outcomes)
		}
	case reflect.Struct:
		if !describable(before.Type()) {
			return
		}
		for i := 0; i < before.NumField(); i++ {
			if !before.Type().Field(i).IsExported() {
				continue
			}
			if before.Field(i).IsZero() && before.Field(i).Kind() != reflect.Struct {
				note(outcomes, place{before.Type(), i}, after.Field(i))
			} else {
				compare(before.Field(i), after.Field(i), outcomes)
			}
		}
	}
}

func note(outcomes map[place]map[string]int, where place, after reflect.Value) {
	text := ""
	if !after.IsZero() {
		encoded, err := json.Marshal(after.Interface())
		if err != nil {
			return
		}
		text = string(encoded)
	}
	if outcomes[where] == nil {
		outcomes[where] = map[string]int{}
	}
	outcomes[where][text]++
}

// describable returns whether a type is a struct of the API itself, and not Time or Quantity.
func describable(goType reflect.Type) bool {
	group, ok := groupOfPackage(goType.PkgPath())
	return ok && shapes[group.file+"."+goType.Name()] == "" && group.file != "meta_v1"
}

// filler sets about half of all fields to plausible values.
type filler struct {
	random *rand.Rand
	c      *collector
}

func (f filler) fill(value reflect.Value, jsonName string, depth int) {
	if depth > 14 {
		return
	}
	switch value.Kind() {
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		f.fill(value.Elem(), jsonName, depth)
	case reflect.Struct:
		if !describable(value.Type()) {
			return
		}
		f.fillFields(value, depth)
	case reflect.Slice:
		if value.Type().Elem().Kind() == reflect.Uint8 {
			value.SetBytes([]byte("x"))
			return
		}
		value.Set(reflect.MakeSlice(value.Type(), 1+f.random.Intn(2), 2))
		for i := 0; i < value.Len(); i++ {
			f.fill(value.Index(i), jsonName, depth+1)
		}
	case reflect.String:
		value.SetString([]string{"a", "b", "x/y:v1"}[f.random.Intn(3)])
	case reflect.Bool:
		value.SetBool(f.random.Intn(2) == 0)
	case reflect.Int32, reflect.Int64:
		value.SetInt(int64(1 + f.random.Intn(9)))
	}
}

func (f filler) fillFields(value reflect.Value, depth int) {
	described := f.c.messages[value.Type()]
	for i := 0; i < value.NumField(); i++ {
		member := value.Type().Field(i)
		isStruct := member.Type.Kind() == reflect.Struct
		if !member.IsExported() || !isStruct && f.random.Intn(5) < 2 {
			continue
		}
		f.fill(value.Field(i), member.Name, depth+1)
		if described != nil {
			f.chooseEnum(value.Field(i), described, member.Name)
		}
	}
}

func (f filler) chooseEnum(value reflect.Value, described *message, goName string) {
	for value.Kind() == reflect.Pointer && !value.IsNil() {
		value = value.Elem()
	}
	if value.Kind() != reflect.String || value.String() == "" {
		return
	}
	for _, one := range described.fields {
		if one.goName == goName && len(one.enums) > 0 {
			value.SetString(one.enums[f.random.Intn(len(one.enums))])
		}
	}
}
