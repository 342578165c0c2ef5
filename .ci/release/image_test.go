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

	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// A program in the image runs as a user without rights who may write into the work folder, and trusts public certificates.
// Nothing in it depends on when it was built.
func TestImage(t *testing.T) {
	t.Chdir("../..")
	binary := filepath.Join(t.TempDir(), "binary")
	check(os.WriteFile(binary, []byte("program"), 0o600))
	index := release{version: "1.2.3", commit: "c"}.index([]string{"amd64=" + binary, "arm64=" + binary})
	manifests := must(index.IndexManifest()).Manifests
	if len(manifests) != 2 || manifests[1].Platform.Architecture != "arm64" {
		t.Fatalf("expected an image for each binary, got %+v", manifests)
	}
	image := must(index.Image(manifests[1].Digest))
	config := must(image.ConfigFile())
	c := config.Config
	told := fmt.Sprintln(config.Architecture, c.User, c.WorkingDir, c.Entrypoint, c.Cmd)
	if told != "arm64 65532:65532 /work [/agentconform] [container]\n" {
		t.Error("configured as", told)
	}
	found := map[string]string{} // mode, owner and text of each file
	for r := tar.NewReader(mutate.Extract(image)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		check(err)
		if h.ModTime.Unix() != 0 {
			t.Errorf("%s has the time %s, by which builds differ", h.Name, h.ModTime)
		}
		found[h.Name] = strings.TrimSpace(fmt.Sprintf("%o %d:%d %s", h.Mode, h.Uid, h.Gid, must(io.ReadAll(r))))
	}
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
