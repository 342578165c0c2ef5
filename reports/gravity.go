package reports

import "slices"

// Gravity orders requirements by their subject ([Requirement.Subject]), the gravest first, from 0: what one user or tenant has of
// another, then what else others can see or change, then lost data, then wrong behaviour, then forms and errors.
func Gravity(subject string) int {
	if at := slices.Index([]string{"isolation", "security", "rollback", "", "form"}, subject); at >= 0 {
		return at
	}
	return Gravity("") // a subject of another version
}
