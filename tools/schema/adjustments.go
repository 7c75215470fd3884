package main

import "log"

// adjustments change facts that cannot be derived from the Go types and from the defaulting of random objects.
var adjustments = map[string]func(*field){
	// The default also sets rollingUpdate, so the strategy of the kind sets both.
	"k8s.io/api/apps/v1.StatefulSetUpdateStrategy.Type": func(f *field) { f.defaultJSON = "" },
	// A list that is present and empty gets no default and is refused, so it is not the same as a missing list.
	"k8s.io/api/autoscaling/v2.HPAScalingRules.Policies": func(f *field) { f.pointer = true },
	// The OpenAPI document has this default, which server-side apply uses as the key of a list item without a name.
	"k8s.io/api/core/v1.LocalObjectReference.Name": func(f *field) { f.defaultJSON = `""` },
}

func adjust(c *collector) {
	found := 0
	for goType, one := range c.messages {
		for _, f := range one.fields {
			if change, ok := adjustments[goType.PkgPath()+"."+goType.Name()+"."+f.goName]; ok {
				change(f)
				found++
			}
		}
	}
	if found != len(adjustments) {
		log.Fatalf("%d of %d adjustments apply", found, len(adjustments))
	}
}
