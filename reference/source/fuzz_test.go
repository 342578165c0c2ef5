package source

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzOrigin checks that no error contains the password of a URL, and that parsed names of images are valid.
func FuzzOrigin(f *testing.F) {
	for _, a := range []string{"https://u:secret-password@h/r.git", "ssh://u:secret-password@h/r", "file:///tmp/r", "/tmp/r", "h:5000/a/b:tag", "h/a@sha256:00", "\x7f", "http://[::1", "u:secret-password@h/%zz", "localhost/UPPER"} {
		f.Add(a, "refs/tags/v1")
		f.Add(a, "a..b\x00")
	}
	f.Fuzz(func(t *testing.T, address, ref string) {
		err := CheckURL(address)
		if err == nil {
			err = MissingRef(Origin{RepoURL: address, Ref: ref})
		}
		if strings.Contains(address, "://u:secret-password@") && !strings.Contains(ref, "secret-password") {
			require.NotContains(t, err.Error(), "secret-password")
			require.NotContains(t, cannotRead(Origin{RepoURL: address}, errors.New(address)).Error(), "secret-password")
		}
		if image, err := ParseImage(address); err == nil {
			require.NotEmpty(t, image.Context().RegistryStr())
			_, err := ParseImage(image.Name())
			require.NoError(t, err, "the name of a parsed image is valid")
		}
	})
}
