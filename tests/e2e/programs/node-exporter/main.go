//go:build tools

// Node exporter is built from its package; this file keeps the package in go.mod.
package main

import _ "github.com/prometheus/node_exporter"
