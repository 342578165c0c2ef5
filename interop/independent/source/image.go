package source

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Image pulls an image by its tag or its digest. The files of the tree are those in its working directory, and the version is its
// digest.
func Image(ctx context.Context, uri string) (*Tree, error) {
	ref, err := name.ParseReference(uri)
	if err != nil {
		return nil, fmt.Errorf("%q is not the URI of an image: %w", uri, err)
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment}
	defer transport.CloseIdleConnections()
	image, err := remote.Image(ref, remote.WithContext(ctx), remote.WithTransport(transport))
	if err != nil {
		return nil, fmt.Errorf("pull %s: %w", uri, err)
	}
	digest, err := image.Digest()
	if err != nil {
		return nil, fmt.Errorf("pull %s: %w", uri, err)
	}
	configuration, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("pull %s: %w", uri, err)
	}
	t := &Tree{Version: digest.String(), files: map[string][]byte{}}
	content := mutate.Extract(image)
	defer content.Close() //nolint:errcheck // only read
	return t, t.unpack(content, strings.Trim(configuration.Config.WorkingDir, "/"))
}
