package main

import (
	"archive/tar"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// A program in the image runs as a user without rights who may write into the work folder, and trusts public certificates.
// Nothing in it depends on when it was built.
func TestImage(t *testing.T) {
	t.Chdir("../..")
	binary := filepath.Join(t.TempDir(), "binary")
	if err := os.WriteFile(binary, []byte("program"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := release{version: "1.2.3", commit: "c", created: time.Unix(1e9, 0)}
	index, err := r.index([]string{"amd64=" + binary, "arm64=" + binary})
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil || len(manifest.Manifests) != 2 || manifest.Manifests[1].Platform.Architecture != "arm64" {
		t.Fatalf("expected an image for each binary, got %+v, %v", manifest, err)
	}
	image, err := index.Image(manifest.Manifests[1].Digest)
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	c := config.Config
	told := fmt.Sprintln(config.Architecture, c.User, c.WorkingDir, c.Entrypoint, c.Cmd)
	if told != "arm64 65532:65532 /work [/agentconform] [container]\n" {
		t.Error("configured as", told)
	}
	found := filesOf(t, image)
	for name, want := range map[string]string{"work": "777 65532:65532", "tmp": "1777 0:0", "agentconform": "755 0:0 program"} {
		if found[name] != want {
			t.Errorf("%s: expected %q, got %q", name, want, found[name])
		}
	}
	if !x509.NewCertPool().AppendCertsFromPEM([]byte(found["etc/ssl/certs/ca-certificates.crt"])) {
		t.Error("no certificates")
	}
	if !strings.Contains(found["LICENSE"], "Apache License") {
		t.Error("no licence")
	}
}

// filesOf are mode, owner and text of each file.
func filesOf(t *testing.T, image v1.Image) map[string]string {
	t.Helper()
	files := map[string]string{}
	content := mutate.Extract(image)
	defer content.Close() //nolint:errcheck // only read
	for r := tar.NewReader(content); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		} else if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if h.ModTime.Unix() != 0 {
			t.Errorf("%s has the time %s, by which builds differ", h.Name, h.ModTime)
		}
		files[h.Name] = strings.TrimSpace(fmt.Sprintf("%o %d:%d %s", h.Mode, h.Uid, h.Gid, text))
	}
}
