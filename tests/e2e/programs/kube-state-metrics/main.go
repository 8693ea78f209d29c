//go:build tools

// kube-state-metrics is built from its package; this file keeps the package in go.mod.
package main

import _ "k8s.io/kube-state-metrics/v2"
