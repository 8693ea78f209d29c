// The schemas of this release are read from these modules (generator/tools/derive.py); no Go code is built.
module trainyard/releases/kubernetes-1.34

go 1.26

require (
	github.com/Mellanox/network-operator v1.4.1-0.20260415085747-fd00b67fe97a // indirect
	github.com/argoproj/argo-cd/v3 v3.5.7 // indirect
	github.com/external-secrets/external-secrets v1.3.2 // indirect
	github.com/grafana/grafana-operator/v5 v5.24.0 // indirect
	github.com/k8snetworkplumbingwg/network-attachment-definition-client v1.7.7 // indirect
	github.com/k8snetworkplumbingwg/sriov-network-operator v1.6.0 // indirect
	github.com/kubeflow/trainer/v2 v2.1.0 // indirect
	github.com/prometheus-operator/prometheus-operator v0.85.0 // indirect
	k8s.io/kubernetes v1.34.4 // indirect
	sigs.k8s.io/kueue v0.16.2 // indirect
)
