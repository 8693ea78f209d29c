//go:build tools

// Prometheus' own promtool is built from its package; this file keeps the package in go.mod.
package main

import _ "github.com/prometheus/prometheus/cmd/promtool"
