// Package kubernetes holds the manifests of docs/kubernetes to the types of the Kubernetes API. It is a module of its own,
// because the suite needs none of them.
package kubernetes

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// A field that the API does not know, one that is given twice, and a value of another type are refused.
func TestManifests(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{core.AddToScheme, batch.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	files, err := filepath.Glob("../../docs/kubernetes/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		// A pod whose claim does not exist stays pending.
		for _, claim := range regexp.MustCompile(`claimName: ([\w-]+)`).FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(string(text), "kind: PersistentVolumeClaim\nmetadata:\n  name: "+claim[1]+"\n") {
				t.Errorf("%s: the claim %s is missing", file, claim[1])
			}
		}
		for manifest := range strings.SplitSeq(string(text), "\n---\n") {
			_, kind, err := decoder.Decode([]byte(manifest), nil, nil)
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			kinds = append(kinds, kind.Kind)
		}
	}
	if got := strings.Join(kinds, " "); got != "PersistentVolumeClaim CronJob PersistentVolumeClaim Job" {
		t.Errorf("read %q", got)
	}
}
