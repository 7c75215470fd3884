package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	apiextensionsinstall "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiregistrationinstall "k8s.io/kube-aggregator/pkg/apis/apiregistration/install"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/controlplane"
)

type group struct {
	version   schema.GroupVersion
	goPackage string
	file      string // name of the .proto file; its package is "k8s." with the last "_" as "."
}

func apiGroup(name, version, folder string) group {
	return group{schema.GroupVersion{Group: name, Version: version}, "k8s.io/api/" + folder + "/" + version, folder + "_" + version}
}

// The group-versions that kube-apiserver serves by default, and those that --runtime-config can switch on.
var groups = []group{
	apiGroup("", "v1", "core"),
	apiGroup("admissionregistration.k8s.io", "v1", "admissionregistration"),
	apiGroup("apps", "v1", "apps"),
	apiGroup("authentication.k8s.io", "v1", "authentication"),
	apiGroup("authorization.k8s.io", "v1", "authorization"),
	apiGroup("autoscaling", "v1", "autoscaling"),
	apiGroup("autoscaling", "v2", "autoscaling"),
	apiGroup("batch", "v1", "batch"),
	apiGroup("certificates.k8s.io", "v1", "certificates"),
	apiGroup("coordination.k8s.io", "v1", "coordination"),
	apiGroup("discovery.k8s.io", "v1", "discovery"),
	apiGroup("events.k8s.io", "v1", "events"),
	apiGroup("flowcontrol.apiserver.k8s.io", "v1", "flowcontrol"),
	apiGroup("networking.k8s.io", "v1", "networking"),
	apiGroup("node.k8s.io", "v1", "node"),
	apiGroup("policy", "v1", "policy"),
	apiGroup("rbac.authorization.k8s.io", "v1", "rbac"),
	apiGroup("resource.k8s.io", "v1", "resource"),
	apiGroup("scheduling.k8s.io", "v1", "scheduling"),
	apiGroup("storage.k8s.io", "v1", "storage"),
	apiGroup("admissionregistration.k8s.io", "v1alpha1", "admissionregistration"),
	apiGroup("admissionregistration.k8s.io", "v1beta1", "admissionregistration"),
	apiGroup("certificates.k8s.io", "v1alpha1", "certificates"),
	apiGroup("certificates.k8s.io", "v1beta1", "certificates"),
	apiGroup("coordination.k8s.io", "v1alpha2", "coordination"),
	apiGroup("coordination.k8s.io", "v1beta1", "coordination"),
	apiGroup("internal.apiserver.k8s.io", "v1alpha1", "apiserverinternal"),
	apiGroup("networking.k8s.io", "v1beta1", "networking"),
	apiGroup("resource.k8s.io", "v1alpha3", "resource"),
	apiGroup("resource.k8s.io", "v1beta1", "resource"),
	apiGroup("resource.k8s.io", "v1beta2", "resource"),
	apiGroup("scheduling.k8s.io", "v1alpha2", "scheduling"),
	apiGroup("storage.k8s.io", "v1beta1", "storage"),
	apiGroup("storagemigration.k8s.io", "v1beta1", "storagemigration"),
	{schema.GroupVersion{Group: "apiextensions.k8s.io", Version: "v1"}, "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1", "apiextensions_v1"},
	{schema.GroupVersion{Group: "apiregistration.k8s.io", Version: "v1"}, "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1", "apiregistration_v1"},
}

// Packages that contain types but no served group.
var machinery = []group{
	{schema.GroupVersion{Version: "v1"}, "k8s.io/apimachinery/pkg/apis/meta/v1", "meta_v1"},
	{schema.GroupVersion{}, "k8s.io/apimachinery/pkg/api/resource", "quantity"},
	{schema.GroupVersion{}, "k8s.io/apimachinery/pkg/runtime", "runtime"},
	{schema.GroupVersion{}, "k8s.io/apimachinery/pkg/util/intstr", "intstr"},
}

// Kinds of meta/v1 that are sent as complete documents.
var metaKinds = []any{
	metav1.Status{}, metav1.DeleteOptions{}, metav1.APIVersions{}, metav1.APIGroup{}, metav1.APIGroupList{},
	metav1.APIResourceList{}, metav1.CreateOptions{}, metav1.UpdateOptions{}, metav1.PatchOptions{}, metav1.GetOptions{},
	metav1.ListOptions{}, metav1.PartialObjectMetadata{}, metav1.PartialObjectMetadataList{},
}

var metaTypes = []any{
	metav1.ObjectMeta{}, metav1.ListMeta{}, metav1.LabelSelector{}, metav1.Condition{}, metav1.Duration{}, metav1.MicroTime{},
	metav1.WatchEvent{}, metav1.Preconditions{}, metav1.Patch{}, runtime.RawExtension{}, metav1.FieldsV1{},
}

func newScheme() *runtime.Scheme {
	scheme := legacyscheme.Scheme
	apiextensionsinstall.Install(scheme)
	apiregistrationinstall.Install(scheme)
	utilruntime.Must(metav1.AddMetaToScheme(scheme))
	return scheme
}

func groupOfPackage(path string) (group, bool) {
	for _, list := range [][]group{groups, machinery} {
		for _, one := range list {
			if one.goPackage == path {
				return one, true
			}
		}
	}
	return group{}, false
}
