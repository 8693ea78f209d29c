//go:build tools

// Prometheus' own programs are built from their packages; this file keeps the packages in go.mod.
package main

import (
	_ "github.com/prometheus/prometheus/cmd/prometheus"
	_ "github.com/prometheus/prometheus/cmd/promtool"
)
