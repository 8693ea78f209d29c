// Program sriov-network-operator prints what the SR-IOV network operator makes of policies and nodes.
//
// Its reconciler for policies (exported by the module) runs once against a client in memory. Objects come from standard
// input, one JSON document a line: nodes, their states with the network cards that were found, policies, pool
// configurations, the operator's configuration, and its list of supported cards. The states and the device plugin's
// ConfigMap go to standard output in the same way.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"log"
	"os"

	sriov "github.com/k8snetworkplumbingwg/sriov-network-operator/api/v1"
	"github.com/k8snetworkplumbingwg/sriov-network-operator/controllers"
	"github.com/k8snetworkplumbingwg/sriov-network-operator/pkg/consts"
	"github.com/k8snetworkplumbingwg/sriov-network-operator/pkg/featuregate"
	"github.com/k8snetworkplumbingwg/sriov-network-operator/pkg/vars"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// event is the name under which the reconciler expects its only request (controllers.nodePolicySyncEventName).
const event = "node-policy-sync-event"

func main() {
	scheme := runtime.NewScheme()
	check(corev1.AddToScheme(scheme))
	check(sriov.AddToScheme(scheme))
	vars.Namespace = os.Args[1]
	ctx := context.Background()

	objects := read(scheme)
	memory := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	reconciler := controllers.SriovNetworkNodePolicyReconciler{
		Client: memory, Scheme: scheme, FeatureGate: featuregate.New(),
	}
	_, err := reconciler.Reconcile(ctx, ctrl.Request{NamespacedName: types.NamespacedName{Name: event}})
	check(err)

	output := json.NewEncoder(os.Stdout)
	states := &sriov.SriovNetworkNodeStateList{}
	check(memory.List(ctx, states))
	check(output.Encode(states))
	resources := &corev1.ConfigMap{}
	check(memory.Get(ctx, types.NamespacedName{Namespace: vars.Namespace, Name: consts.ConfigMapName}, resources))
	check(output.Encode(resources))
}

// read returns the objects on standard input; the list of supported cards goes where the operator keeps it.
func read(scheme *runtime.Scheme) (objects []client.Object) {
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		object, _, err := decoder.Decode(lines.Bytes(), nil, nil)
		check(err)
		if cards, ok := object.(*corev1.ConfigMap); ok {
			for _, card := range cards.Data {
				sriov.InitNicIDMapFromList([]string{card})
			}
			continue
		}
		objects = append(objects, object.(client.Object))
	}
	check(lines.Err())
	return objects
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
