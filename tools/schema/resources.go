package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sort"
	"strings"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/deprecation"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/kubeapiserver"
)

const minorVersion = 36 // of Kubernetes, for deprecations

const resourceHeader = "# Made by tools/schema: what discovery and storage need to know of every built-in resource. A dash is nothing.\n" +
	"group\tversion\tresource\tkind\tscope\tverbs\tshortNames\tcategories\tsingular\tstoragePrefix\tstorageVersion\twarning\n"

// servedKinds returns the kinds in the discovery document of kube-apiserver.
func servedKinds(spec string) map[schema.GroupVersionKind]bool {
	var discovery apidiscovery.APIGroupDiscoveryList
	read(filepath.Join(spec, "discovery", "aggregated_v2.json"), &discovery)
	kinds := map[schema.GroupVersionKind]bool{}
	for _, group := range discovery.Items {
		for _, version := range group.Versions {
			for _, resource := range version.Resources {
				kinds[schema.GroupVersionKind{Group: group.Name, Version: version.Version, Kind: resource.ResponseKind.Kind}] = true
			}
		}
	}
	return kinds
}

// resourceTable joins the discovery document of kube-apiserver with its storage layout.
func resourceTable(spec string) string {
	var discovery apidiscovery.APIGroupDiscoveryList
	read(filepath.Join(spec, "discovery", "aggregated_v2.json"), &discovery)
	discovery.Items = append(discovery.Items, coreGroup(spec))
	served := map[schema.GroupVersion]bool{}
	for _, one := range groups {
		served[one.version] = true
	}
	var lines []string
	for _, group := range discovery.Items {
		for _, version := range group.Versions {
			if groupVersion := (schema.GroupVersion{Group: group.Name, Version: version.Version}); served[groupVersion] {
				for _, resource := range version.Resources {
					lines = append(lines, resourceLines(groupVersion, resource)...)
				}
			}
		}
	}
	sort.Strings(lines)
	return resourceHeader + strings.Join(lines, "\n") + "\n"
}

func read(path string, into any) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// coreGroup converts the document of /api/v1, which the aggregated document does not contain, to the format of that document.
func coreGroup(spec string) apidiscovery.APIGroupDiscovery {
	var list metav1.APIResourceList
	read(filepath.Join(spec, "discovery", "api__v1.json"), &list)
	version := apidiscovery.APIVersionDiscovery{Version: "v1"}
	for _, one := range list.APIResources {
		kind := &metav1.GroupVersionKind{Group: one.Group, Version: one.Version, Kind: one.Kind}
		if name, subresource, found := strings.Cut(one.Name, "/"); found {
			sub := apidiscovery.APISubresourceDiscovery{Subresource: subresource, ResponseKind: kind, Verbs: one.Verbs}
			last := &version.Resources[len(version.Resources)-1]
			if last.Resource != name {
				log.Fatalf("%s does not follow its resource", one.Name)
			}
			last.Subresources = append(last.Subresources, sub)
			continue
		}
		scope := apidiscovery.ScopeCluster
		if one.Namespaced {
			scope = apidiscovery.ScopeNamespace
		}
		version.Resources = append(version.Resources, apidiscovery.APIResourceDiscovery{
			Resource: one.Name, ResponseKind: kind, Scope: scope, SingularResource: one.SingularName,
			Verbs: one.Verbs, ShortNames: one.ShortNames, Categories: one.Categories})
	}
	return apidiscovery.APIGroupDiscovery{Versions: []apidiscovery.APIVersionDiscovery{version}}
}

func resourceLines(version schema.GroupVersion, r apidiscovery.APIResourceDiscovery) []string {
	prefix, storageVersion := storageOf(schema.GroupResource{Group: version.Group, Resource: r.Resource}, version)
	line := func(name string, kind *metav1.GroupVersionKind, verbs, rest []string) string {
		kindName := "-"
		if kind != nil {
			kindName = kind.Kind
			if kind.Group != "" && kind.Group != version.Group || kind.Version != "" && kind.Version != version.Version {
				kindName = strings.TrimPrefix(kind.Group+"/"+kind.Version+"/"+kind.Kind, "/")
			}
		}
		sort.Strings(verbs)
		columns := append([]string{version.Group, version.Version, name, kindName, string(r.Scope), strings.Join(verbs, ",")}, rest...)
		for i := range columns {
			if columns[i] == "" {
				columns[i] = "-"
			}
		}
		return strings.Join(columns, "\t")
	}
	lines := []string{line(r.Resource, r.ResponseKind, r.Verbs,
		[]string{strings.Join(r.ShortNames, ","), strings.Join(r.Categories, ","), r.SingularResource, prefix, storageVersion, deprecationOf(version, r.ResponseKind)})}
	for _, sub := range r.Subresources {
		lines = append(lines, line(r.Resource+"/"+sub.Subresource, sub.ResponseKind, sub.Verbs, []string{"", "", "", "", "", ""}))
	}
	return lines
}

// deprecationOf returns the text of the Warning header that kube-apiserver of this version sends with every response about the kind.
func deprecationOf(version schema.GroupVersion, kind *metav1.GroupVersionKind) string {
	gvk := version.WithKind(kind.Kind)
	object, err := legacyscheme.Scheme.New(gvk)
	if err != nil { // a kind of another server
		return ""
	}
	object.GetObjectKind().SetGroupVersionKind(gvk)
	if !deprecation.IsDeprecated(object, 1, minorVersion) {
		return ""
	}
	return deprecation.WarningMessage(object)
}

// Kinds that are never stored.
var notStored = map[string]bool{
	"bindings": true, "componentstatuses": true, "tokenreviews.authentication.k8s.io": true, "selfsubjectreviews.authentication.k8s.io": true,
	"localsubjectaccessreviews.authorization.k8s.io": true, "selfsubjectaccessreviews.authorization.k8s.io": true,
	"selfsubjectrulesreviews.authorization.k8s.io": true, "subjectaccessreviews.authorization.k8s.io": true,
}

func storageOf(resource schema.GroupResource, version schema.GroupVersion) (prefix, storageVersion string) {
	if notStored[resource.String()] {
		return "", ""
	}
	// The aggregator and the apiextensions server include the group in the path.
	if resource.Group == "apiextensions.k8s.io" || resource.Group == "apiregistration.k8s.io" {
		return resource.Group + "/" + resource.Resource, version.String()
	}
	if resource.Group == "events.k8s.io" {
		resource.Group = ""
	}
	prefix, ok := kubeapiserver.SpecialDefaultResourcePrefixes[resource]
	if !ok {
		prefix = strings.ToLower(resource.Resource)
	}
	for _, override := range kubeapiserver.NewStorageFactoryConfig().ResourceEncodingOverrides {
		if override.GroupResource() == resource {
			return prefix, override.GroupVersion().String()
		}
	}
	versions := legacyscheme.Scheme.PrioritizedVersionsForGroup(resource.Group)
	if len(versions) == 0 {
		log.Fatal(fmt.Sprintf("no version for %v", resource))
	}
	return prefix, versions[0].String()
}
