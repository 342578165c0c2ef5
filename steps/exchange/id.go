package exchange

import (
	"slices"
	"strings"

	"github.com/google/uuid"
)

// IDKey returns the form of an id for comparisons: a UUID of 36 characters in lower case, because a server may write it
// in either case (RFC 9562, section 4), and any other id unchanged. Requests send an id in the form of the response.
func IDKey(id string) string {
	const length = len("00000000-0000-0000-0000-000000000000")
	if len(id) == length && uuid.Validate(id) == nil {
		return strings.ToLower(id)
	}
	return id
}

// IDKeys returns the keys of ids: see [IDKey].
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

// Form is a UUID in a form other than that of RFC 9562, with the name of the form.
type Form struct{ Name, ID string }

// The names of the forms in the steps.
const (
	InCapitals   = "in capital letters"
	InBraces     = "in braces"
	WithoutDash  = "without dashes"
	AfterURNUUID = "after urn:uuid:"
)

// FormsOf returns an id in the other forms that parsers of UUIDs accept. It returns nil if the id is not a UUID.
func FormsOf(id string) []Form {
	if len(id) != len(uuid.Nil.String()) || uuid.Validate(id) != nil {
		return nil
	}
	all := []Form{
		{InCapitals, strings.ToUpper(id)},
		{InBraces, "{" + id + "}"},
		{WithoutDash, strings.ReplaceAll(id, "-", "")},
		{AfterURNUUID, "urn:uuid:" + id},
	}
	return slices.DeleteFunc(all, func(f Form) bool { return f.ID == id })
}

// InForm returns an id in the named form, or "" if the id is not a UUID.
func InForm(id, name string) string {
	for _, f := range FormsOf(id) {
		if f.Name == name {
			return f.ID
		}
	}
	return ""
}

// MeansSame reports whether two ids are equal, or the same UUID in any forms.
func MeansSame(a, b string) bool {
	first, firstErr := uuid.Parse(a)
	second, secondErr := uuid.Parse(b)
	return SameID(a, b) || firstErr == nil && secondErr == nil && first == second
}
