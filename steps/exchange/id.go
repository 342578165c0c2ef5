package exchange

import (
	"slices"
	"strings"

	"github.com/google/uuid"
)

// IDKey returns the text by which an id is compared with others: a UUID of 36 characters in lower case, because a server
// may write it in either case (RFC 9562, section 4), and any other id as it is. Requests send an id as the target has
// shown it.
func IDKey(id string) string {
	if len(id) == len(uuid.Nil.String()) && uuid.Validate(id) == nil {
		return strings.ToLower(id)
	}
	return id
}

// IDKeys returns the key of each id.
func IDKeys(ids []string) []string {
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = IDKey(id)
	}
	return keys
}

// SameID reports whether two ids are the same.
func SameID(a, b string) bool { return a == b || IDKey(a) == IDKey(b) }

// SameIDs reports whether two lists contain the same ids, in any order.
func SameIDs(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(IDKeys(a))), slices.Sorted(slices.Values(IDKeys(b))))
}

// ContainsID reports whether a list contains an id.
func ContainsID(ids []string, id string) bool { return slices.Contains(IDKeys(ids), IDKey(id)) }
