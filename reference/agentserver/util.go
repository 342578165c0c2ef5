package agentserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/google/uuid"
)

// newID makes an id. Ids are ordered by time: the store keeps runs in order by them.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// unmarshal decodes one JSON value and keeps numbers as they are written.
func unmarshal(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("decoding JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("decoding JSON: there is something behind the value")
	}
	return nil
}
