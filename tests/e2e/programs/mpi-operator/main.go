// Program mpi-operator is the MPI operator itself: its own main function is this one, with a port for metrics beside it.
package main

import (
	"flag"

	"github.com/kubeflow/mpi-operator/cmd/mpi-operator/app"
	"github.com/kubeflow/mpi-operator/cmd/mpi-operator/app/options"
	"k8s.io/klog/v2"
)

func main() {
	given := options.NewServerOption()
	given.AddFlags(flag.CommandLine)
	flag.Parse()
	if err := app.Run(given); err != nil {
		klog.Fatal(err)
	}
}
