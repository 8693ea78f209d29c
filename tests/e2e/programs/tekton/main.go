// Program tekton judges Tasks and Pipelines as Tekton's webhook does.
//
// YAML documents come from standard input. Each is decoded into the module's type, which refuses unknown fields, gets
// its defaults, and is validated. Faults go to standard output, and the exit code is 1.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/tektoncd/pipeline/pkg/apis/pipeline/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"knative.dev/pkg/apis"
	"sigs.k8s.io/yaml"
)

type judged interface {
	apis.Defaultable
	apis.Validatable
}

func main() {
	ctx, refused := context.Background(), false
	documents := utilyaml.NewYAMLReader(bufio.NewReader(os.Stdin))
	for {
		document, end := documents.Read()
		if errors.Is(end, io.EOF) {
			break
		}
		if err := judge(ctx, document); err != nil {
			refused = true
			fmt.Println(err)
		}
	}
	if refused {
		os.Exit(1)
	}
}

func judge(ctx context.Context, document []byte) error {
	var meta struct{ Kind string }
	if err := yaml.Unmarshal(document, &meta); err != nil {
		return err
	}
	object, known := map[string]judged{"Task": &v1.Task{}, "Pipeline": &v1.Pipeline{}}[meta.Kind]
	if !known {
		return fmt.Errorf("no Task and no Pipeline: %q", meta.Kind)
	}
	if err := yaml.UnmarshalStrict(document, object); err != nil {
		return err
	}
	object.SetDefaults(ctx)
	if problem := object.Validate(ctx); problem != nil {
		return problem
	}
	return nil
}
