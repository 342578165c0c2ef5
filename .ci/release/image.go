// Command release builds the image of a release from its Linux binaries, without a daemon: the same binaries give the same
// digest.
//
//	release -version V -commit C -created T -out FOLDER [-push NAME:TAG] amd64=BINARY arm64=BINARY
//
// It writes an OCI layout to the folder and prints the digest of the index.
package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is the one that images without a root user have by custom.
const user = 65532

// release is what the image says of itself.
type release struct {
	version, commit string
	created         time.Time
}

func main() {
	log.SetFlags(0)
	var r release
	flag.StringVar(&r.version, "version", "", "")
	flag.StringVar(&r.commit, "commit", "", "")
	created := flag.Int64("created", 0, "time of the commit, in seconds since 1970")
	out := flag.String("out", "", "folder for the OCI layout; what is in it is removed")
	push := flag.String("push", "", "push the image to this name, with the credentials of docker login")
	flag.Parse()
	r.created = time.Unix(*created, 0).UTC()
	index, err := r.index(flag.Args())
	if err == nil {
		err = write(index, *out, *push)
	}
	if err != nil {
		log.Fatalln("building the image:", err)
	}
}

func write(index v1.ImageIndex, out, push string) error {
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if _, err := layout.Write(out, index); err != nil {
		return err
	}
	if push != "" {
		ref, err := name.ParseReference(push)
		if err != nil {
			return err
		}
		if err := remote.WriteIndex(ref, index, remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
			return err
		}
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	fmt.Println(digest)
	return nil
}

// index holds an image for each binary, named "architecture=file".
func (r release) index(binaries []string) (v1.ImageIndex, error) {
	var index v1.ImageIndex = empty.Index
	for _, b := range binaries {
		architecture, file, _ := strings.Cut(b, "=")
		image, err := r.image(architecture, file)
		if err != nil {
			return nil, err
		}
		platform := &v1.Platform{OS: "linux", Architecture: architecture}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: platform}})
	}
	return index, nil
}

func (r release) image(architecture, binary string) (v1.Image, error) {
	files, err := content(binary)
	if err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files)), nil }
	layer, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.ConfigFile(image, &v1.ConfigFile{
		OS: "linux", Architecture: architecture, Created: v1.Time{Time: r.created}, RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			Entrypoint: []string{"/agentconform"},
			Cmd:        []string{"container"},
			User:       fmt.Sprintf("%d:%d", user, user),
			WorkingDir: "/work",
			Env:        []string{"PATH=/", "HOME=/work"},
			Labels: map[string]string{
				"org.opencontainers.image.source":   "https://github.com/agentconform/agentconform",
				"org.opencontainers.image.licenses": "Apache-2.0",
				"org.opencontainers.image.version":  r.version,
				"org.opencontainers.image.revision": r.commit,
			},
		},
	})
	if err != nil {
		return nil, err
	}
	return mutate.AppendLayers(image, layer)
}

// content is the file system of the image, as a tar file. Whatever user the image is run by can write into /work.
func content(binary string) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	add := func(name string, mode int64, owner int, text []byte) error {
		kind := byte(tar.TypeReg)
		if strings.HasSuffix(name, "/") {
			kind = tar.TypeDir
		}
		header := tar.Header{Typeflag: kind, Name: name, Mode: mode, Uid: owner, Gid: owner, Size: int64(len(text)), ModTime: time.Unix(0, 0)}
		if err := w.WriteHeader(&header); err != nil {
			return err
		}
		_, err := w.Write(text)
		return err
	}
	texts := map[string][]byte{}
	for _, source := range []string{binary, "LICENSE", "NOTICE"} {
		text, err := os.ReadFile(source)
		if err != nil {
			return nil, err
		}
		texts[source] = text
	}
	err := errors.Join(
		add("etc/", 0o755, 0, nil), add("etc/ssl/", 0o755, 0, nil), add("etc/ssl/certs/", 0o755, 0, nil),
		add("etc/ssl/certs/ca-certificates.crt", 0o644, 0, authorities()),
		add("etc/passwd", 0o644, 0, fmt.Appendf(nil, "agentconform:x:%d:%d::/work:/agentconform\n", user, user)),
		add("tmp/", 0o1777, 0, nil), add("work/", 0o777, user, nil),
		add("LICENSE", 0o644, 0, texts["LICENSE"]), add("NOTICE", 0o644, 0, texts["NOTICE"]),
		add("agentconform", 0o755, 0, texts[binary]), w.Close(),
	)
	return b.Bytes(), err
}

// authorities are the certificates that Go's own list trusts without conditions: those of the machine that builds would
// differ from the next one's.
func authorities() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer takes everything
		}
	}
	return b.Bytes()
}
