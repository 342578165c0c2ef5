// Package kubernetes checks the manifests of docs/kubernetes against the types of the Kubernetes API. It is a separate
// module, because the suite does not need these types.
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

// TestManifests refuses unknown fields, duplicate fields, and values of the wrong type.
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
		// A pod stays pending if its claim does not exist.
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
