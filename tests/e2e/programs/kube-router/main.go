// Program kube-router writes the rules of NetworkPolicies into the kernel, once, and leaves them there.
//
// It runs the network policy controller of kube-router (the fork of k3s) on a client in memory. Objects come from
// standard input, one JSON document a line: the node, namespaces, pods and policies. It ends with 1 when the controller
// logs an error: the controller itself only logs what it could not write.
package main

import (
	"bufio"
	"os"
	"sync"

	"github.com/cloudnativelabs/kube-router/v2/pkg/controllers/netpol"
	"github.com/cloudnativelabs/kube-router/v2/pkg/healthcheck"
	"github.com/cloudnativelabs/kube-router/v2/pkg/options"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
)

func main() {
	clients := fake.NewSimpleClientset(read()...)
	factory := informers.NewSharedInformerFactory(clients, 0)
	pods := factory.Core().V1().Pods().Informer()
	namespaces := factory.Core().V1().Namespaces().Informer()
	policies := factory.Networking().V1().NetworkPolicies().Informer()
	stop := make(chan struct{})
	factory.Start(stop)
	factory.WaitForCacheSync(stop)

	config := options.NewKubeRouterConfig()
	config.HostnameOverride = os.Args[1]
	config.EnableIPv4 = true
	tables, sets, err := netpol.NewIPTablesHandlers(config)
	check(err)
	controller, err := netpol.NewNetworkPolicyController(
		clients, config, pods, policies, namespaces, &sync.Mutex{}, tables, sets)
	check(err)

	// The first heartbeat comes when a sync begins; after stop, Run returns when that sync has ended.
	began := make(chan *healthcheck.ControllerHeartbeat, 1)
	var running sync.WaitGroup
	running.Add(1)
	go controller.Run(began, stop, &running)
	<-began
	close(stop)
	running.Wait()
	klog.Flush()
	if klog.Stats.Error.Lines() > 0 {
		os.Exit(1)
	}
}

// read returns the objects on standard input.
func read() (objects []runtime.Object) {
	decoder := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		object, _, err := decoder.Decode(lines.Bytes(), nil, nil)
		check(err)
		objects = append(objects, object)
	}
	check(lines.Err())
	return objects
}

func check(err error) {
	if err != nil {
		klog.Fatal(err)
	}
}
