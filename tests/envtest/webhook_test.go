package envtest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

const (
	mutatePath   = "mutate--v1-configmap" // controller-runtime derives the paths from the kind
	validatePath = "validate--v1-configmap"
)

// A defaulter and validator of ConfigMaps.
type rules struct{}

func (rules) Default(ctx context.Context, object *corev1.ConfigMap) error {
	if object.Data == nil {
		object.Data = map[string]string{}
	}
	if object.Data["size"] == "" {
		object.Data["size"] = "small"
	}
	return nil
}

func (rules) ValidateCreate(ctx context.Context, object *corev1.ConfigMap) (admission.Warnings, error) {
	if object.Data["size"] == "huge" {
		return nil, errors.New("huge is not a size")
	}
	if object.Data["size"] == "large" {
		return admission.Warnings{"large is expensive"}, nil
	}
	return nil, nil
}

func (rules) ValidateUpdate(ctx context.Context, old, object *corev1.ConfigMap) (admission.Warnings, error) {
	if old.Data["size"] != object.Data["size"] {
		return nil, errors.New("the size cannot change")
	}
	return nil, nil
}

func (rules) ValidateDelete(ctx context.Context, object *corev1.ConfigMap) (admission.Warnings, error) {
	if object.Data["keep"] == "yes" {
		return nil, errors.New("this one is kept")
	}
	return nil, nil
}

// Collects Warning headers.
type warnings struct {
	mutex sync.Mutex
	texts []string
}

func (w *warnings) HandleWarningHeader(code int, agent string, text string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.texts = append(w.texts, text)
}

func (w *warnings) take() string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	taken := strings.Join(w.texts, "; ")
	w.texts = nil
	return taken
}

func configurations() envtest.WebhookInstallOptions {
	fail, none, equivalent := admissionv1.Fail, admissionv1.SideEffectClassNone, admissionv1.Equivalent
	at := func(path string) admissionv1.WebhookClientConfig {
		return admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: "default", Name: "webhook", Path: &path}}
	}
	rulesOf := func(operations ...admissionv1.OperationType) []admissionv1.RuleWithOperations {
		return []admissionv1.RuleWithOperations{{Operations: operations, Rule: admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}}}}
	}
	namespaces := &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": "default"}}
	return envtest.WebhookInstallOptions{
		MutatingWebhooks: []*admissionv1.MutatingWebhookConfiguration{{ObjectMeta: metav1.ObjectMeta{Name: "mutating"}, Webhooks: []admissionv1.MutatingWebhook{{
			Name: "default.configmaps.example.com", ClientConfig: at(mutatePath), Rules: rulesOf(admissionv1.Create, admissionv1.Update), FailurePolicy: &fail, MatchPolicy: &equivalent,
			SideEffects: &none, AdmissionReviewVersions: []string{"v1"}, NamespaceSelector: namespaces}}}},
		ValidatingWebhooks: []*admissionv1.ValidatingWebhookConfiguration{{ObjectMeta: metav1.ObjectMeta{Name: "validating"}, Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "check.configmaps.example.com", ClientConfig: at(validatePath), Rules: rulesOf(admissionv1.OperationAll), FailurePolicy: &fail, MatchPolicy: &equivalent,
			SideEffects: &none, AdmissionReviewVersions: []string{"v1"}, NamespaceSelector: namespaces}}}},
	}
}

// The webhook server of controller-runtime changes, accepts, warns about and rejects objects.
func TestWebhooks(t *testing.T) {
	plane := &envtest.Environment{WebhookInstallOptions: configurations()}
	config, err := plane.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	options := plane.WebhookInstallOptions
	manager, err := ctrl.NewManager(config, ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}, WebhookServer: webhook.NewServer(webhook.Options{
		Host: options.LocalServingHost, Port: options.LocalServingPort, CertDir: options.LocalServingCertDir})})
	if err != nil {
		t.Fatal(err)
	}
	if err := ctrl.NewWebhookManagedBy(manager, &corev1.ConfigMap{}).WithDefaulter(rules{}).WithValidator(rules{}).Complete(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = manager.Start(ctx) }()

	seen := &warnings{}
	config.WarningHandler = seen
	direct, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	named := func(name string, data map[string]string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Data: data}
	}
	rejected := func(err error, reason string) {
		t.Helper()
		want := `admission webhook "check.configmaps.example.com" denied the request: ` + reason
		if !apierrors.IsForbidden(err) || err.Error() != want {
			t.Errorf("got %v instead of %s", err, want)
		}
	}

	// As long as the server does not run, its webhooks fail and the failure policy rejects the request.
	object := named("a", nil)
	var refused error
	for err = direct.Create(ctx, object); apierrors.IsInternalError(err); err = direct.Create(ctx, object) {
		if !strings.Contains(err.Error(), `failed calling webhook "default.configmaps.example.com"`) {
			t.Fatal(err)
		}
		refused = err
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil {
		t.Fatalf("%v; before: %v", err, refused)
	}
	if object.Data["size"] != "small" {
		t.Errorf("the defaulter has not set the size: %v", object.Data)
	}
	seen.take()
	if err := direct.Create(ctx, named("b", map[string]string{"size": "large", "keep": "yes"})); err != nil {
		t.Error(err)
	}
	if warning := seen.take(); warning != "large is expensive" {
		t.Errorf("unexpected warnings: %q", warning)
	}
	rejected(direct.Create(ctx, named("c", map[string]string{"size": "huge"})), "huge is not a size")
	rejected(direct.Patch(ctx, named("a", nil), client.RawPatch("application/merge-patch+json", []byte(`{"data":{"size":"large"}}`))), "the size cannot change")
	rejected(direct.Delete(ctx, named("b", nil)), "this one is kept")
	if err := direct.Patch(ctx, named("a", nil), client.RawPatch("application/merge-patch+json", []byte(`{"data":{"more":"1"}}`))); err != nil {
		t.Error(err)
	}
	if err := direct.Delete(ctx, named("a", nil)); err != nil {
		t.Error(err)
	}
}
