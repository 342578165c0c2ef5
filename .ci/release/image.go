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

// user is the usual user of images without a root user.
const user = 65532

// release has the labels of the image.
type release struct {
	version, commit string
	created         int64 // time of the commit, in seconds since 1970
}

func main() {
	log.SetFlags(0)
	var r release
	flag.StringVar(&r.version, "version", "", "")
	flag.StringVar(&r.commit, "commit", "", "")
	flag.Int64Var(&r.created, "created", 0, "time of the commit, in seconds since 1970")
	out := flag.String("out", "", "folder for the OCI layout; its content is removed")
	push := flag.String("push", "", "push the image to this name, with the credentials of docker login")
	flag.Parse()
	index := r.index(flag.Args())
	check(os.RemoveAll(*out))
	must(layout.Write(*out, index))
	if *push != "" {
		check(remote.WriteIndex(must(name.ParseReference(*push)), index, remote.WithAuthFromKeychain(authn.DefaultKeychain)))
	}
	fmt.Println(must(index.Digest()))
}

func check(err error) {
	if err != nil {
		log.Fatalln("building the image:", err)
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

// index holds an image for each binary, named "architecture=file".
func (r release) index(binaries []string) v1.ImageIndex {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, b := range binaries {
		architecture, file, _ := strings.Cut(b, "=")
		platform := v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: architecture}}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: r.image(architecture, content(file)), Descriptor: platform})
	}
	return index
}

func (r release) image(architecture string, files []byte) v1.Image {
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image = must(mutate.ConfigFile(image, &v1.ConfigFile{
		OS: "linux", Architecture: architecture, RootFS: v1.RootFS{Type: "layers"},
		Created: v1.Time{Time: time.Unix(r.created, 0).UTC()},
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
	}))
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files)), nil }
	return must(mutate.AppendLayers(image, must(tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer)))))
}

// content is the file system of the image, as a tar file. Every user of the image can write into /work.
func content(binary string) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	add := func(name string, mode int64, owner int, text []byte) {
		kind := byte(tar.TypeReg)
		if strings.HasSuffix(name, "/") {
			kind = tar.TypeDir
		}
		check(w.WriteHeader(&tar.Header{
			Typeflag: kind, Name: name, Mode: mode, Uid: owner, Gid: owner, Size: int64(len(text)), ModTime: time.Unix(0, 0),
		}))
		must(w.Write(text))
	}
	for _, folder := range []string{"etc/", "etc/ssl/", "etc/ssl/certs/"} {
		add(folder, 0o755, 0, nil)
	}
	add("etc/ssl/certs/ca-certificates.crt", 0o644, 0, authorities())
	add("etc/passwd", 0o644, 0, fmt.Appendf(nil, "agentconform:x:%d:%d::/work:/agentconform\n", user, user))
	add("tmp/", 0o1777, 0, nil)
	add("work/", 0o777, user, nil)
	for _, text := range []string{"LICENSE", "NOTICE"} {
		add(text, 0o644, 0, must(os.ReadFile(text)))
	}
	add("agentconform", 0o755, 0, must(os.ReadFile(binary)))
	check(w.Close())
	return b.Bytes()
}

// authorities returns the certificates that Go's own list trusts without conditions. The list of the build machine would
// differ from that of the next one.
func authorities() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			check(pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return b.Bytes()
}
