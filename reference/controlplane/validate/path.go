package validate

import (
	"strings"

	"github.com/google/uuid"
)

// PathUUID reads a uuid of the path in its usual 36 characters, and returns it in lower case, as it is stored.
func PathUUID(name, raw string, problems *Problems) string {
	id, err := uuid.Parse(raw)
	if err != nil || len(raw) != len("00000000-0000-0000-0000-000000000000") {
		problems.Add([]any{"path", name}, "uuid_parsing", "Input should be a valid UUID", raw)
		return ""
	}
	return strings.ToLower(id.String())
}
