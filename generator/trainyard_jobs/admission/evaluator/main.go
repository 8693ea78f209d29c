// Judges requests as the API server does: the form of metadata, ValidatingAdmissionPolicy and Pod Security.
//
// It reads one JSON document from the file that its argument names, and prints one. It decides nothing itself: it
// calls k8s.io/apimachinery, and the plugins of k8s.io/apiserver and k8s.io/pod-security-admission get the objects from
// clients that hold them in memory.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"regexp"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	kubeversion "k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/apiserver/pkg/warning"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/component-base/compatibility"
	"k8s.io/klog/v2"
	podapi "k8s.io/pod-security-admission/api"
	podpolicy "k8s.io/pod-security-admission/policy"
)

type input struct {
	// Minor version of the cluster, such as 1.34: it decides which CEL libraries exist.
	Version string `json:"version"`
	// Policies, bindings, their parameters and namespaces.
	Objects  []unstructured.Unstructured `json:"objects"`
	Requests []request                   `json:"requests"`
}

type request struct {
	Object   unstructured.Unstructured `json:"object"`
	Resource string                    `json:"resource"`
	User     string                    `json:"user"`
	Groups   []string                  `json:"groups"`
}

type denial struct {
	Policy  string `json:"policy"`
	Binding string `json:"binding"`
	Message string `json:"message"`
}

type answer struct {
	Admitted bool     `json:"admitted"`
	Error    string   `json:"error"`
	Denials  []denial `json:"denials"`
}

func main() {
	log.SetFlags(0)
	// The plugins' own log is about informers that are none here.
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	if len(os.Args) != 2 {
		log.Fatal("usage: admission FILE")
	}
	content, err := os.ReadFile(os.Args[1])
	check(err)
	var asked input
	check(json.Unmarshal(content, &asked))
	answers, err := judge(asked)
	check(err)
	check(write(os.Stdout, answers))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func write(to io.Writer, answers []answer) error {
	encoder := json.NewEncoder(to)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(map[string]any{"answers": answers})
}

func judge(asked input) ([]answer, error) {
	emulated, err := emulate(asked.Version)
	if err != nil {
		return nil, err
	}
	held, err := typed(asked.Objects)
	if err != nil {
		return nil, err
	}
	policies, err := newPolicies(held)
	if err != nil {
		return nil, err
	}
	pods, err := newPodSecurity(emulated, held)
	if err != nil {
		return nil, err
	}
	answers := make([]answer, len(asked.Requests))
	for number, each := range asked.Requests {
		if problems := metadata(each.Object); len(problems) > 0 {
			answers[number] = answer{Error: problems[0].Message, Denials: problems}
			continue
		}
		if answers[number], err = policies.judge(each); err != nil {
			return nil, err
		}
		if each.Resource == "pods" {
			answers[number] = pods.judge(each, answers[number])
		}
	}
	return answers, nil
}

// metadata returns what the API server refuses before any plugin is asked:
// k8s.io/apiextensions-apiserver/pkg/registry/customresource/validator.go@v0.36.3; a Pod's name has the same rules.
func metadata(object unstructured.Unstructured) []denial {
	denials := []denial{}
	named := validation.NameIsDNSSubdomain
	if object.GroupVersionKind().Group == rbacv1.GroupName {
		// k8s.io/kubernetes/pkg/apis/rbac/validation/validation.go (ValidateRBACName).
		named = path.ValidatePathSegmentName
	}
	for _, each := range validation.ValidateObjectMetaAccessor(&object, true, named, field.NewPath("metadata")) {
		denials = append(denials, denial{Policy: "ObjectMeta", Message: each.Error()})
	}
	return denials
}

// emulate chooses the CEL environment and the defaults of features of a minor version.
func emulate(text string) (*version.Version, error) {
	wanted, err := version.ParseMajorMinor(text)
	if err != nil {
		return nil, err
	}
	registry := kubeversion.DefaultComponentGlobalsRegistry
	effective := registry.EffectiveVersionFor(compatibility.DefaultKubeComponent)
	if effective.BinaryVersion().LessThan(wanted) {
		return nil, fmt.Errorf("Kubernetes %s is newer than this program, which knows %s", wanted, effective.BinaryVersion())
	}
	effective.(compatibility.MutableEffectiveVersion).SetEmulationVersion(wanted)
	return wanted, utilfeature.DefaultMutableFeatureGate.SetEmulationVersion(wanted)
}

// typed returns objects as the API server holds them, in the types of k8s.io/api.
func typed(objects []unstructured.Unstructured) ([]runtime.Object, error) {
	held := make([]runtime.Object, 0, len(objects))
	for _, each := range objects {
		object, err := scheme.Scheme.New(each.GroupVersionKind())
		if err != nil {
			return nil, err
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(each.Object, object); err != nil {
			return nil, fmt.Errorf("%s %s: %w", each.GetKind(), each.GetName(), err)
		}
		switch object := object.(type) {
		case *admissionv1.ValidatingAdmissionPolicyBinding:
			alsoWarn(object)
		case *corev1.Namespace:
			// As the API server does: k8s.io/kubernetes/pkg/apis/core/v1/defaults.go (SetDefaults_Namespace).
			metav1.SetMetaDataLabel(&object.ObjectMeta, corev1.LabelMetadataName, object.Name)
		}
		held = append(held, object)
	}
	return held, nil
}

// alsoWarn makes a binding that denies report every failed validation: the plugin's error has only the first.
func alsoWarn(binding *admissionv1.ValidatingAdmissionPolicyBinding) {
	kept := []admissionv1.ValidationAction{}
	for _, action := range binding.Spec.ValidationActions {
		if action == admissionv1.Deny {
			kept = append(kept, admissionv1.Deny, admissionv1.Warn)
		}
	}
	binding.Spec.ValidationActions = kept
}

// mostWaits of ten seconds each are less than the time that the caller gives.
const mostWaits = 4

type policies struct {
	plugin     *validating.Plugin
	interfaces admission.ObjectInterfaces
}

func newPolicies(held []runtime.Object) (*policies, error) {
	plugin, err := validating.NewPlugin(nil)
	if err != nil {
		return nil, err
	}
	stop := make(chan struct{})
	client := fake.NewSimpleClientset(held...)
	informer := informers.NewSharedInformerFactory(client, time.Hour)
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{corev1.SchemeGroupVersion})
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	initializer.New(client, dynamicfake.NewSimpleDynamicClient(scheme.Scheme), informer, nobody{},
		utilfeature.DefaultFeatureGate, kubeversion.DefaultBuildEffectiveVersion(), stop, mapper).Initialize(plugin)
	if err := plugin.ValidateInitialization(); err != nil {
		return nil, err
	}
	informer.Start(stop)
	informer.WaitForCacheSync(stop)
	// On a busy machine the plugin needs more than the ten seconds after which it refuses a request as too early.
	for tries := 0; !plugin.WaitForReady(); tries++ {
		if tries == mostWaits {
			return nil, errors.New("the policies did not become ready")
		}
	}
	return &policies{plugin, admission.NewObjectInterfacesFromScheme(scheme.Scheme)}, nil
}

func (p *policies) judge(asked request) (answer, error) {
	object, err := requested(asked.Object)
	if err != nil {
		return answer{}, err
	}
	kind := asked.Object.GroupVersionKind()
	attributes := admission.NewAttributesRecord(object, nil, kind, asked.Object.GetNamespace(), asked.Object.GetName(),
		kind.GroupVersion().WithResource(asked.Resource), "", admission.Create, &metav1.CreateOptions{}, false,
		&user.DefaultInfo{Name: asked.User, Groups: asked.Groups})
	warned := &recorder{denials: []denial{}}
	err = p.plugin.Validate(warning.WithWarningRecorder(context.Background(), warned), attributes, p.interfaces)
	if err != nil {
		return answer{Error: err.Error(), Denials: warned.denials}, nil
	}
	return answer{Admitted: true, Denials: warned.denials}, nil
}

// requested returns a pod in its type, as the API server has it, and a custom resource as it is.
func requested(object unstructured.Unstructured) (runtime.Object, error) {
	if object.GroupVersionKind() != corev1.SchemeGroupVersion.WithKind("Pod") {
		return &object, nil
	}
	pod := &corev1.Pod{}
	return pod, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, pod)
}

// nobody is the authorizer: a tenant has none of the permissions that policies ask for.
type nobody struct{}

func (nobody) Authorize(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	return authorizer.DecisionNoOpinion, "", nil
}

// Words of the plugin: k8s.io/apiserver/pkg/admission/plugin/policy/validating/dispatcher.go@v0.36.3.
var failed = regexp.MustCompile(`(?s)^Validation failed for ValidatingAdmissionPolicy '([^']*)' with binding '([^']*)': (.*)$`)

type recorder struct{ denials []denial }

func (r *recorder) AddWarning(_, text string) {
	if parts := failed.FindStringSubmatch(text); parts != nil {
		r.denials = append(r.denials, denial{parts[1], parts[2], parts[3]})
	}
}

type podSecurity struct {
	evaluator podpolicy.Evaluator
	labels    map[string]map[string]string
}

func newPodSecurity(emulated *version.Version, held []runtime.Object) (*podSecurity, error) {
	minor := podapi.MajorMinorVersion(int(emulated.Major()), int(emulated.Minor()))
	evaluator, err := podpolicy.NewEvaluator(podpolicy.DefaultChecks(), &minor)
	if err != nil {
		return nil, err
	}
	labels := map[string]map[string]string{}
	for _, object := range held {
		if namespace, ok := object.(*corev1.Namespace); ok {
			labels[namespace.Name] = namespace.Labels
		}
	}
	return &podSecurity{evaluator, labels}, nil
}

// judge adds what Pod Security refuses. Without labels of the namespace every pod is admitted, as by default.
func (p *podSecurity) judge(asked request, before answer) answer {
	lowest := podapi.LevelVersion{Level: podapi.LevelPrivileged, Version: podapi.LatestVersion()}
	defaults := podapi.Policy{Enforce: lowest, Audit: lowest, Warn: lowest}
	policy, problems := podapi.PolicyToEvaluate(p.labels[asked.Object.GetNamespace()], defaults)
	pod := &corev1.Pod{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(asked.Object.Object, pod); err != nil {
		return answer{Error: err.Error(), Denials: before.Denials}
	}
	if len(problems) > 0 {
		return answer{Error: problems.ToAggregate().Error(), Denials: before.Denials}
	}
	result := podpolicy.AggregateCheckResults(p.evaluator.EvaluatePod(policy.Enforce, &pod.ObjectMeta, &pod.Spec))
	if result.Allowed {
		return before
	}
	message := fmt.Sprintf("violates PodSecurity %q: %s", policy.Enforce.String(), result.ForbiddenDetail())
	denials := append(before.Denials, denial{Policy: "PodSecurity", Message: message})
	if before.Admitted {
		return answer{Error: message, Denials: denials}
	}
	return answer{Error: before.Error, Denials: denials}
}
