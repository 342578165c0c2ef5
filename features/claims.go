package features

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/agentconform/agentconform/reports"
)

//go:embed capabilities.yaml
var capabilitiesFile []byte

// Capability is a part of a profile that a target can claim: a closed set of requirements.
type Capability struct {
	Name         string   `yaml:"name"`
	Profile      string   `yaml:"profile"`
	Core         bool     `yaml:"core"`  // claimed with every other capability of its profile
	Title        string   `yaml:"title"` // for people
	Why          string   `yaml:"why"`   // for a core: the reason why it is always claimed
	Requirements []string `yaml:"requirements"`
}

// capabilities has the rows of the table, and capabilityOf the capability of each requirement. A test compares both with
// the features.
var capabilities, capabilityOf = func() (all []*Capability, of map[string]*Capability) {
	if err := yaml.Unmarshal(capabilitiesFile, &all); err != nil {
		panic(err) // the file is embedded
	}
	of = map[string]*Capability{}
	for _, c := range all {
		for _, id := range c.Requirements {
			of[id] = c
		}
	}
	return all, of
}()

// CapabilityOf returns the capability of a requirement. It is nil only for an ID that is not in the catalogue.
func CapabilityOf(id string) *Capability { return capabilityOf[id] }

// Capabilities returns all capabilities for a result, with the requirements that count.
func Capabilities(counts func(id string) bool) (all []reports.Capability) {
	for _, c := range capabilities {
		in := reports.Capability{Name: c.Name, Profile: c.Profile, Title: c.Title}
		for _, id := range c.Requirements {
			if counts(id) {
				in.Requirements = append(in.Requirements, id)
			}
		}
		if len(in.Requirements) > 0 {
			all = append(all, in)
		}
	}
	return all
}

// checkCapabilities returns an error for each requirement that is in no capability of its profile. No claim would include
// it, and no page could show its place.
func (c *Catalogue) checkCapabilities() (problems []error) {
	for _, r := range c.Requirements {
		if own := capabilityOf[r.ID]; own != nil && own.Profile == r.Profile {
			continue
		}
		var names []string
		for _, each := range capabilities {
			if each.Profile == r.Profile {
				names = append(names, each.Name)
			}
		}
		problems = append(problems, fmt.Errorf("%s:%d: %s is in no capability of %s: add it to the requirements of one of %s in "+
			"features/capabilities.yaml", r.URI, r.Line, r.ID, r.Profile, strings.Join(names, ", ")))
	}
	return problems
}

// Claims are the words of the key supports: profiles and capabilities. The claim is the union of its words. A profile
// claims all of its requirements. A capability claims its own requirements and the core of its profile, and end-to-end
// claims both cores. Without words everything is claimed.
type Claims []string

// ClaimWords returns the words that a claim can have: the profiles, then the capabilities.
func ClaimWords() []string {
	words := slices.Clone(Profiles)
	for _, c := range capabilities {
		if !slices.Contains(words, c.Name) {
			words = append(words, c.Name)
		}
	}
	return words
}

// Lacks returns the word that would claim the requirement, or "" if it is claimed. If nothing in its profile is claimed,
// the word is the profile. Otherwise it is the capability.
func (c Claims) Lacks(q *Requirement) string {
	own := capabilityOf[q.ID]
	switch {
	case len(c) == 0 || own == nil || c.covers(own):
		return ""
	case !slices.ContainsFunc(c, func(word string) bool { return profileOf(word) == q.Profile }):
		return q.Profile
	}
	return own.Name
}

// Promised returns the capability of a requirement that must be judged because of the claim, or "". Such requirements are
// all requirements of a claimed capability, and the MUSTs of claimed cores and profiles.
func (c Claims) Promised(q *Requirement) string {
	own := capabilityOf[q.ID]
	if own == nil || !c.Names(q) && (q.Level != reports.Must || !c.covers(own)) {
		return ""
	}
	return own.Name
}

// Names reports whether the claim names the capability of a requirement, and the capability is not a core. The
// requirement then counts as MUST, whatever its level is.
func (c Claims) Names(q *Requirement) bool {
	own := capabilityOf[q.ID]
	return own != nil && !own.Core && slices.Contains(c, own.Name)
}

// covers reports whether a word claims the capability.
func (c Claims) covers(own *Capability) bool {
	return slices.ContainsFunc(c, func(word string) bool {
		profile := profileOf(word)
		return word == own.Name || word == own.Profile || own.Core && (profile == own.Profile || profile == EndToEnd)
	})
}

func profileOf(word string) string {
	for _, c := range capabilities {
		if c.Name == word {
			return c.Profile
		}
	}
	return word
}

// ClaimsMarkdown returns the table of the capabilities, for the page of the configuration.
func ClaimsMarkdown() string {
	var b strings.Builder
	b.WriteString("| word | profile | what it claims | requirements |\n| --- | --- | --- | --- |\n")
	for _, c := range capabilities {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", c.Name, c.Profile, marked(c.Title), strings.Join(c.Requirements, ", "))
	}
	b.WriteString("\nThe cores are always claimed:\n\n")
	for _, c := range capabilities {
		if c.Core {
			fmt.Fprintf(&b, "- `%s`: %s\n", c.Name, c.Why)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
