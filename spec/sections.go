package spec

import (
	_ "embed"
	"regexp"
)

//go:embed INTERFACE.md
var interfaceText string

// sectionHeading is the heading of a numbered section.
var sectionHeading = regexp.MustCompile(`(?m)^## (\d+)\. (.+)$`)

// SectionTitle returns the heading of a section of the interface description, without its number; "" where there is none.
func SectionTitle(number string) string {
	for _, m := range sectionHeading.FindAllStringSubmatch(interfaceText, -1) {
		if m[1] == number {
			return m[2]
		}
	}
	return ""
}
