// Package envtest runs a control plane of controller-runtime's envtest with the programs of KUBEBUILDER_ASSETS.
package envtest

import (
	"context"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A controller that labels every ConfigMap.
type labeller struct{ client.Client }

func (l *labeller) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var object corev1.ConfigMap
	if err := l.Get(ctx, request.NamespacedName, &object); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if object.Labels["seen"] == "yes" {
		return reconcile.Result{}, nil
	}
	patch := client.MergeFrom(object.DeepCopy())
	if object.Labels == nil {
		object.Labels = map[string]string{}
	}
	object.Labels["seen"] = "yes"
	return reconcile.Result{}, l.Patch(ctx, &object, patch)
}

func widgets() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com",
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Kind: "Widget"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"size": {Type: "integer"}}}}}},
		},
	}
}

func TestControlPlane(t *testing.T) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		t.Fatal(`KUBEBUILDER_ASSETS is not set; run: export KUBEBUILDER_ASSETS=$(./apimesh envtest)`)
	}
	began := time.Now()
	plane := &envtest.Environment{CRDs: []*apiextensionsv1.CustomResourceDefinition{widgets()}}
	config, err := plane.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("ready with a CRD after %v", time.Since(began))
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	manager, err := ctrl.NewManager(config, ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Complete(&labeller{manager.GetClient()}); err != nil {
		t.Fatal(err)
	}
	go func() { _ = manager.Start(ctx) }()

	direct, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
	if err := direct.Create(ctx, object); err != nil {
		t.Fatal(err)
	}
	for object.Labels["seen"] != "yes" {
		time.Sleep(10 * time.Millisecond)
		if err := direct.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			t.Fatal(err)
		}
	}
	widget := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"namespace": "default", "name": "w"}, "size": int64(3)}}
	if err := direct.Create(ctx, widget); err != nil {
		t.Fatal(err)
	}
	user, err := plane.AddUser(envtest.User{Name: "alice"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	asAlice, err := client.New(user.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := asAlice.Get(ctx, client.ObjectKeyFromObject(object), object); err == nil {
		t.Error("a user without a role can read a ConfigMap")
	}
}
