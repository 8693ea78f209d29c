// Prints how long Loki keeps the streams with some labels, by the limits of its configuration.
//
// It reads the configuration from standard input, and a query for each argument: `name=value` of a label.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/grafana/loki/v3/pkg/compactor/retention"
	"github.com/grafana/loki/v3/pkg/validation"
	"github.com/prometheus/prometheus/model/labels"
	"gopkg.in/yaml.v2"
)

type configuration struct {
	Limits validation.Limits `yaml:"limits_config"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(queries []string) error {
	var read configuration
	read.Limits.RegisterFlags(flag.NewFlagSet("", flag.ContinueOnError))
	validation.SetDefaultLimitsForYAMLUnmarshalling(read.Limits)
	decoder := yaml.NewDecoder(os.Stdin)
	decoder.SetStrict(true)
	if err := decoder.Decode(&read); err != nil {
		return err
	}
	if err := read.Limits.Validate(); err != nil {
		return err
	}
	limits, err := validation.NewOverrides(read.Limits, nil)
	if err != nil {
		return err
	}
	kept := retention.NewTenantsRetention(limits)
	for _, query := range queries {
		name, value, _ := strings.Cut(query, "=")
		fmt.Println(kept.RetentionPeriodFor("fake", labels.FromStrings(name, value)))
	}
	return nil
}
