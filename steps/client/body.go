package client

import (
	"errors"
	"io"
)

// errSilent says that no answer came in time.
var errSilent = errors.New("no answer in time")

var errTooLarge = errors.New("the body is larger than 8 MiB")

func readBounded(body io.ReadCloser) ([]byte, error) {
	defer body.Close()
	content, err := io.ReadAll(io.LimitReader(body, MaxBody+1))
	if err == nil && len(content) > MaxBody {
		err = errTooLarge
	}
	return content, err
}
